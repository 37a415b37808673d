/** Seconds. */
const BOUNDS = [0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2];

/** Cumulative histograms of one balancer: whole requests, and the stages that they spend their time in. */
export class TailPusher {
  readonly #startMs: number;
  readonly #instance: string;
  readonly #counts = new Map<string, number[]>();

  constructor(options: { readonly startMs: number; readonly instance: string }) {
    this.#startMs = options.startMs;
    this.#instance = options.instance;
  }

  /** So many more of each metric by their p99 in seconds, with an exponential tail; as OTLP JSON. */
  body(events: number, p99s: Readonly<Record<string, number>>, at: number): string {
    const metrics = Object.entries(p99s).map(([name, p99]) => {
      const counts = this.#counts.get(name) ?? new Array<number>(BOUNDS.length + 1).fill(0);
      this.#counts.set(name, counts);
      const above = (seconds: number): number => events * 0.01 ** (seconds / p99);
      for (let index = 0; index <= BOUNDS.length; index += 1) {
        const low = index === 0 ? events : Math.round(above(BOUNDS[index - 1] as number));
        const high = index === BOUNDS.length ? 0 : Math.round(above(BOUNDS[index] as number));
        counts[index] = (counts[index] as number) + low - high;
      }
      const count = counts.reduce((sum, one) => sum + one, 0);
      const point = {
        startTimeUnixNano: `${this.#startMs}000000`,
        timeUnixNano: `${at}000000`,
        count: String(count),
        sum: count * 0.1,
        bucketCounts: counts.map(String),
        explicitBounds: BOUNDS,
        attributes: [{ key: 'lb.upstream.cluster', value: { stringValue: 'shop' } }],
      };
      return { name, unit: 's', histogram: { aggregationTemporality: 2, dataPoints: [point] } };
    });
    const resource = { attributes: [{ key: 'service.instance.id', value: { stringValue: this.#instance } }] };
    return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] });
  }
}
