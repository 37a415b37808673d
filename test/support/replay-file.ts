/** Builds JSON Lines for replay: an OTLP request per push, cumulative sums of one balancer. */

export interface Series {
  readonly cluster: string;
  readonly responseClass: string;
  /** Events in the minute that begins `minute` minutes after the start. */
  readonly perMinute: (minute: number) => number;
}

const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });
const nanos = (ms: number): string => `${ms}000000`;

/**
 * One line per `pushEveryMs`, from the first push after `startMs` to the end. Events of a minute are spread evenly over its
 * pushes. `order` permutes the series inside each request.
 */
export function replayLines(options: {
  readonly startMs: number;
  readonly minutes: number;
  readonly pushEveryMs: number;
  readonly series: readonly Series[];
  readonly order?: (series: readonly number[]) => readonly number[];
}): readonly string[] {
  const { startMs, minutes, pushEveryMs, series } = options;
  const pushesPerMinute = 60_000 / pushEveryMs;
  const totals = series.map(() => 0);
  const lines: string[] = [];
  for (let push = 1; push <= minutes * pushesPerMinute; push += 1) {
    const minute = Math.floor((push - 1) / pushesPerMinute);
    series.forEach((one, index) => {
      const within = (push - 1) % pushesPerMinute;
      const share = (part: number): number => Math.floor((one.perMinute(minute) * part) / pushesPerMinute);
      totals[index] = (totals[index] ?? 0) + share(within + 1) - share(within);
    });
    const indices = series.map((_, index) => index);
    const points = (options.order?.(indices) ?? indices).map((index) => ({
      startTimeUnixNano: nanos(startMs),
      timeUnixNano: nanos(startMs + push * pushEveryMs),
      asInt: String(totals[index]),
      attributes: [
        attribute('lb.side', 'downstream'),
        attribute('lb.upstream.cluster', series[index]?.cluster ?? ''),
        attribute('lb.response.class', series[index]?.responseClass ?? ''),
      ],
    }));
    const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints: points };
    const resource = { attributes: [attribute('service.instance.id', 'edge-1')] };
    lines.push(
      JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: 'lb.requests', sum }] }] }] }),
    );
  }
  return lines;
}

/** An availability SLO on downstream requests, grouped by cluster: the example of the contract. */
export const availabilitySlo = (policy: string): string => `apiVersion: openslo/v1
kind: SLO
metadata:
  name: checkout-availability
  displayName: Checkout answers without server errors
  labels: { team: edge }
  annotations:
    slowburn/group-by: lb.upstream.cluster
    slowburn/policy: ${policy}
spec:
  service: checkout
  indicator:
    metadata: { name: checkout-requests }
    spec:
      ratioMetric:
        counter: true
        bad:   { metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: downstream, lb.response.class: 5xx } } } }
        total: { metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: downstream } } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ displayName: availability, target: 0.999 }]
`;
