import { parseDecimal } from '../../src/base/decimal.ts';
import { type EpochMs, epochMs, ms } from '../../src/base/units.ts';
import { NO_LABELS } from '../../src/model/labels.ts';
import type { Condition, Indicator, Slo } from '../../src/slo/slo.ts';

export const DAY = 86_400_000;
/** A step edge, well after 1970. */
export const T0 = 20_000 * DAY;
export const at = (seconds: number): EpochMs => epochMs(T0 + seconds * 1000);

export const equals = (attribute: string, value: string): Condition => ({ kind: 'equals', attribute, value });

/** 5xx over all of lb.requests on one side. */
export const errorsOf = (side: string): Indicator => ({
  kind: 'events',
  counts: 'bad',
  part: { metric: 'lb.requests', where: [equals('lb.side', side), equals('lb.response.class', '5xx')] },
  total: { metric: 'lb.requests', where: [equals('lb.side', side)] },
});

export const latency = (threshold: number, metric = 'http.server.request.duration'): Indicator => ({
  kind: 'latency',
  query: { metric, where: [] },
  threshold,
});

/** An SLO with the parts that cells and binder look at. */
export function sloOf(id: string, over: Partial<Slo> = {}): Slo {
  const target = parseDecimal('0.999');
  if (target === undefined) throw new Error('not a decimal');
  return {
    id,
    name: id,
    service: 'checkout',
    displayName: id,
    objective: { text: '0.999', target },
    window: { text: '30d', length: ms(30 * DAY), rolling: true },
    budgeting: { kind: 'occurrences' },
    indicator: errorsOf('downstream'),
    labels: NO_LABELS,
    annotations: NO_LABELS,
    groupBy: [],
    rollup: false,
    policy: { name: 'workbook', confidence: null, tiers: [] },
    runbook: 'ErrorBudgetBurn',
    generation: 'g1',
    source: { file: 'slo.yaml', line: 1 },
    ...over,
  };
}
