import { createAggregate } from '../../src/aggregate/cells.ts';
import { epochMs } from '../../src/base/units.ts';
import { BudgetCourse } from '../../src/burn/exhaustion.ts';
import { holdingTiers } from '../../src/burn/tiers.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createBinder } from '../../src/series/bind.ts';
import { createSeriesIngest } from '../../src/series/ingest.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { BALANCERS, CLEAN_MINUTES, type History, MINUTE_MS, MINUTES, T0 } from './history.ts';
import type { Counter } from './samples.ts';
import { emptyTruth, TIERS, type Truth } from './truth.ts';

const STEP_MS = 10_000;
const nanos = (minute: number): string => `${T0 + minute * MINUTE_MS}000000`;
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

export interface EngineRun {
  readonly truth: ReadonlyMap<string, Truth>;
  /** Where windows ended at each minute's tick, in steps since minute 0. */
  readonly watermarks: Int32Array;
}

/** The history through decoder, series, cells and tiers: one push per balancer and minute, then one look at the tiers. */
export function runEngine(slo: Slo, history: History, counters: readonly Counter[]): EngineRun {
  const aggregate = createAggregate();
  aggregate.replaceSlos([slo]);
  const ingest = createSeriesIngest({ binder: createBinder({ slos: [slo], aggregate }), balancers: aggregate });
  const staging = new Staging();
  const budget = budgetRatioOf(slo.objective);
  const truth = new Map(history.groups.map((group) => [group, emptyTruth()] as const));
  const watermarks = new Int32Array(MINUTES + 1);
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    const now = epochMs(T0 + minute * MINUTE_MS);
    for (let balancer = 0; balancer < BALANCERS; balancer += 1) {
      const body = pushOf(counters, balancer, minute);
      if (body === null) continue;
      decodeMetrics(body, staging);
      ingest.apply(staging, { receivedAt: now, peer: '127.0.0.1', identityHeader: null });
    }
    if (minute < CLEAN_MINUTES) continue;
    for (const group of aggregate.groups()) {
      const { watermark } = aggregate.feed(group, now);
      if (watermark === null) continue;
      watermarks[minute] = (watermark - T0) / STEP_MS;
      const course = new BudgetCourse(group, budget, watermark);
      const holding = holdingTiers(slo.policy, { budget, course }, []).map(({ name }) => name);
      const found = truth.get(group.labels.get('lb.upstream.cluster') ?? '');
      TIERS.forEach(({ name }, tier) => {
        if (found !== undefined) (found[tier] as Uint8Array)[minute] = holding.includes(name) ? 1 : 0;
      });
    }
  }
  return { truth, watermarks };
}

function pushOf(counters: readonly Counter[], balancer: number, minute: number): Uint8Array | null {
  const shown = counters.filter((one) => one.balancer === balancer && !Number.isNaN(one.values[minute]));
  if (shown.length === 0) return null;
  const dataPoints = shown.map(({ group, isBad, values, starts }) => ({
    startTimeUnixNano: nanos(starts[minute] as number),
    timeUnixNano: nanos(minute),
    asInt: String(values[minute]),
    attributes: [
      attribute('lb.side', 'upstream'),
      attribute('lb.upstream.cluster', group),
      attribute('lb.response.class', isBad ? '5xx' : '2xx'),
    ],
  }));
  const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints };
  const resource = { attributes: [attribute('service.instance.id', `edge-${balancer}`)] };
  return encodeMetrics({
    resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: 'lb.requests', sum }] }] }],
  });
}
