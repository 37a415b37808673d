import type {
  ComparisonDeltaView,
  ComparisonFaultView,
  ComparisonSampleView,
  ComparisonView,
  DropsView,
  ExposureView,
} from '../model/views.ts';
import {
  flag,
  instant,
  listOf,
  numberOf,
  numberOrNull,
  oneOf,
  ref,
  refOrNull,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
  wholeOrNull,
} from './schema-parts.ts';

const MEASURES = ['errors', 'added_p99', 'cpu', 'backend_p99'] as const;
export const COMPARED_ATTRIBUTES = ['configVersion', 'version', 'zone', 'region', 'balancer', 'cluster'] as const;

export const COMPARISON_DELTA = viewSchema<ComparisonDeltaView>('ComparisonDelta', 'One measure of both sides.', {
  measure: oneOf(MEASURES, 'errors = share of 5xx; added_p99 and backend_p99 in seconds; cpu = utilization.'),
  against: oneOf(['rest', 'before'], 'The other side, or its own balancers before the change.'),
  value: numberOf('Of a.'),
  other: numberOf('Of what it is compared with.'),
  sample: numberOf('Requests, or readings of CPU, behind value.'),
  otherSample: numberOf('The same behind other.'),
  chance: numberOrNull('Chance that a is no worse; null where it is not a matter of counts.'),
  worse: flag('Worse by the thresholds of ConfigPushRegression.'),
});

export const COMPARISON_SAMPLE = viewSchema<ComparisonSampleView>('ComparisonSample', 'What the verdict rests on.', {
  requests: numberOf('Requests of a.'),
  otherRequests: numberOf('Requests of the other side.'),
  confidence: numberOf('Asked for, 0.95 unless given.'),
  failuresToHold: wholeOf('Failures of a that would have held the verdict, beside those of the other side.'),
  rarestFault: numberOf('The rarest fault, as a share of requests, that would have done so with this confidence.'),
  formula: text('How rarestFault is derived.'),
});

export const COMPARISON_FAULT = viewSchema<ComparisonFaultView>('ComparisonFault', 'A fault that must not be missed.', {
  rate: numberOf('Share of requests, 0.001 unless given.'),
  requestsNeeded: wholeOrNull('Requests of a that show it with the confidence asked for; null = it never would.'),
  seconds: numberOrNull('Until they are there at the pace of the window; 0 = they are, null = never.'),
});

export const EXPOSURE = viewSchema<ExposureView>('Exposure', 'How far a version has come.', {
  rollout: oneOf(['canary', 'zone', 'region', 'global'], 'By the balancers that run it now.'),
  balancers: wholeOf('Balancers that have run it since it began.'),
  of: wholeOf('Balancers that tell such a version.'),
  share: numberOf('The first of the second.'),
  requestShare: numberOf('Share of the requests of the last minute that those still running it answered.'),
  batches: wholeOf('Groups of balancers that changed within a minute of each other.'),
});

export const DROPS = viewSchema<DropsView>('Drops', 'What became of the copies for a shadow.', {
  copies: numberOf('Made in the window.'),
  dropped: numberOf('Of them not sent.'),
  share: numberOf('The second of the first; above 0.01 the verdict is withheld.'),
});

export const COMPARISON = viewSchema<ComparisonView>('Comparison', 'Two cohorts beside each other.', {
  kind: oneOf(['canary', 'shadow', 'zone', 'cohorts'], 'What is compared.'),
  attribute: oneOf(COMPARED_ATTRIBUTES, 'As asked.'),
  a: text('As asked.'),
  b: textOrNull('As asked; null = all that has another value.'),
  cluster: textOrNull('As asked.'),
  from: instant('Start of the window.'),
  to: instant('End of the window.'),
  verdict: oneOf(
    ['worse', 'no_worse', 'hold', 'withheld'],
    'worse = roll back; no_worse = go on; hold = too few requests or too young; withheld = the sample is not fair.',
  ),
  reason: text('The verdict in words, with the sample that it rests on.'),
  worse: listOf(oneOf(MEASURES, 'A measure.'), 'Measures that are worse than all they can be compared with.'),
  deltas: listOf(ref<ComparisonDeltaView>(COMPARISON_DELTA), 'Every comparison that has enough behind it.'),
  sample: ref<ComparisonSampleView>(COMPARISON_SAMPLE),
  fault: ref<ComparisonFaultView>(COMPARISON_FAULT),
  exposure: refOrNull(EXPOSURE, 'Of a config version.'),
  drops: refOrNull(DROPS, 'Of a shadow.'),
  members: texts('Balancers of a, or what else was counted.'),
  others: texts('The same of the other side.'),
});
