import {
  type BudgetPointView,
  type CertificateView,
  type PlaceStageView,
  RED_BY,
  type RedPointView,
  type RedRowView,
  type RedView,
  SKEW_BY,
  type SkewDayView,
  type SkewRowView,
  type SkewView,
  type SloHistoryView,
  SPENT_BY,
  type SpentView,
  type StagePlaceView,
  type StagePointView,
  type StagesView,
  type StageView,
  type TierView,
  type TlsPointView,
  type TlsRowView,
  type TlsView,
  type WholeRequestsView,
} from '../model/history-views.ts';
import { FIDELITIES, STAGES } from '../model/stages.ts';
import {
  flag,
  instant,
  instantOrNull,
  labelSet,
  listOf,
  numberOf,
  numberOrNull,
  numbersByName,
  oneOf,
  ref,
  SEVERITIES,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
  wholeOrNull,
} from './schema-parts.ts';

const STEP = wholeOf('Width of a step; the first and the last may be narrower.');
const FROM = instant('Start of the time.');
const TO = instant('Its end: what was counted until then.');
const seconds = (what: string) => numberOrNull(`${what}, in seconds; null where there is none.`);
const quantiles = {
  count: numberOf('How many were timed.'),
  p50: seconds('Median'),
  p95: seconds('95th percentile'),
  p99: seconds('99th percentile'),
};
const stage = oneOf(STAGES, 'Stage of a request.');
const fidelity = oneOf(
  [...FIDELITIES, 'absent'],
  'The best of its balancers; absent = none tells it, which is no zero.',
);

const TIER = viewSchema<TierView>('Tier', 'A tier of the policy, and what burns beside it.', {
  name: text('Its name.'),
  severity: oneOf(SEVERITIES, 'What it raises.'),
  exhaustsWithinSeconds: numberOf('It is about budgets that would be gone within so long.'),
  long: text('Long alert window: `1h`.'),
  short: text('Short alert window.'),
  minBurn: numberOf('What both burns must reach.'),
  longBurn: numberOrNull('Burn over the long window; null without events.'),
  shortBurn: numberOrNull('Burn over the short window; null without events.'),
  holds: flag('It holds now.'),
});

const BUDGET_POINT = viewSchema<BudgetPointView>('BudgetPoint', 'One step of a budget.', {
  at: instant('End of the step.'),
  bad: numberOf('Bad events (or slices) of the step.'),
  total: numberOf('All events (or slices) of the step.'),
  left: numberOrNull("What was left at its end, as a share of the present window's budget."),
});

const SPENT = viewSchema<SpentView>('Spent', 'A part of what was spent. Those of several kinds overlap.', {
  by: oneOf(SPENT_BY, 'Kind of thing that it is put down to.'),
  name: text('Title of the incident, zone, host, or config versions.'),
  incident: wholeOrNull('Id of the incident.'),
  from: FROM,
  to: TO,
  bad: numberOf('Bad events (or slices); of zones and hosts failed requests to hosts.'),
  share: numberOrNull('Share of the budget; null where they are not exactly what the SLO counts.'),
});

export const SLO_HISTORY = viewSchema<SloHistoryView>('SloHistory', "How one group's budget came to be what it is.", {
  slo: text('Slo.id.'),
  labels: labelSet('Of the group.'),
  from: FROM,
  to: TO,
  stepSeconds: STEP,
  budget: numberOf('Bad events (or slices) that are the whole budget of the SLO window.'),
  points: listOf(ref<BudgetPointView>(BUDGET_POINT), 'Oldest first.'),
  tiers: listOf(ref<TierView>(TIER), 'Fastest first.'),
  spent: listOf(ref<SpentView>(SPENT), 'Of each kind those that spent most first, 20 at most.'),
});

const STAGE_POINT = viewSchema<StagePointView>('StagePoint', 'One step of a stage.', {
  at: instant('End of the step.'),
  ...quantiles,
});

const STAGE = viewSchema<StageView>('Stage', 'One stage of requests.', {
  stage,
  fidelity,
  balancers: numbersByName('How many balancers tell it how faithfully.'),
  ...quantiles,
  tailShare: numberOrNull(
    'Of the slowest hundredth of requests, how many it is long enough to explain, 0 to 1; null where it is not known.',
  ),
  points: listOf(ref<StagePointView>(STAGE_POINT), 'Oldest first; none where it is not told.'),
});

const PLACE_STAGE = viewSchema<PlaceStageView>('PlaceStage', 'One stage at one place.', {
  stage,
  fidelity,
  ...quantiles,
});

const STAGE_PLACE = viewSchema<StagePlaceView>('StagePlace', 'The stages of one zone or balancer.', {
  kind: oneOf(['zone', 'balancer'], 'What it is.'),
  name: text('Its name.'),
  stages: listOf(ref<PlaceStageView>(PLACE_STAGE), 'All five.'),
});

const WHOLE_REQUESTS = viewSchema<WholeRequestsView>('WholeRequests', 'Whole requests.', {
  count: quantiles.count,
  p50: quantiles.p50,
  p99: quantiles.p99,
});

export const STAGES_VIEW = viewSchema<StagesView>('Stages', 'Where the time of requests goes.', {
  cluster: textOrNull('As asked.'),
  zone: textOrNull('As asked.'),
  balancer: textOrNull('As asked.'),
  from: FROM,
  to: TO,
  stepSeconds: STEP,
  requests: ref<WholeRequestsView>(WHOLE_REQUESTS),
  stages: listOf(ref<StageView>(STAGE), 'All five, in the order of a request.'),
  places: listOf(ref<StagePlaceView>(STAGE_PLACE), 'Zones, then balancers; at most of the last 3 h, 200 balancers.'),
  clusters: texts('That can be asked for.'),
  zones: texts('That can be asked for.'),
  balancers: texts('That can be asked for.'),
});

const RED_ROW = viewSchema<RedRowView>('RedRow', 'Requests of one thing.', {
  name: text('Its name.'),
  cluster: textOrNull('Of a host.'),
  zone: textOrNull('Of a host.'),
  requests: numberOf('Requests in the time.'),
  perSecond: numberOf('The same per second.'),
  errors: numberOf('Those answered 5xx.'),
  errorRatio: numberOrNull('Their share; null without requests.'),
  meanSeconds: seconds('Mean time at a host'),
});

const RED_POINT = viewSchema<RedPointView>('RedPoint', 'One step of all of them.', {
  at: instant('End of the step.'),
  perSecond: numberOf('Requests per second.'),
  errorRatio: numberOrNull('Share answered 5xx; null without requests.'),
});

export const RED = viewSchema<RedView>('Red', 'Rate, errors, durations.', {
  by: oneOf(RED_BY, 'As asked.'),
  from: FROM,
  to: TO,
  rows: listOf(ref<RedRowView>(RED_ROW), 'Most requests first, 1000 at most.'),
  stepSeconds: STEP,
  points: listOf(ref<RedPointView>(RED_POINT), 'Oldest first.'),
});

const TLS_ROW = viewSchema<TlsRowView>('TlsRow', 'Handshakes of one zone or balancer.', {
  name: text('Its name.'),
  full: numberOf('Full handshakes, and those that do not say.'),
  resumed: numberOf('Resumed ones.'),
  failed: numberOf('Failed ones.'),
  resumption: numberOrNull('Share of resumed ones among those that say it; null without any.'),
});

const TLS_POINT = viewSchema<TlsPointView>('TlsPoint', 'One step of all handshakes.', {
  at: instant('End of the step.'),
  perSecond: numberOf('Handshakes per second.'),
  resumption: numberOrNull('Share of resumed ones; null without any.'),
});

const CERTIFICATE = viewSchema<CertificateView>('Certificate', 'A certificate that balancers serve.', {
  name: text('Its name.'),
  balancers: texts('Who serves it.'),
  notAfter: instant('When the first of them ends.'),
  renewedAt: instantOrNull('When it was last seen to be replaced.'),
});

export const TLS = viewSchema<TlsView>('Tls', 'Handshakes with clients, and certificates.', {
  from: FROM,
  to: TO,
  stepSeconds: STEP,
  points: listOf(ref<TlsPointView>(TLS_POINT), 'Oldest first.'),
  zones: listOf(ref<TlsRowView>(TLS_ROW), 'By the zone of the balancer.'),
  balancers: listOf(ref<TlsRowView>(TLS_ROW), 'By balancer.'),
  certificates: listOf(ref<CertificateView>(CERTIFICATE), 'Those that end first come first.'),
});

const SKEW_ROW = viewSchema<SkewRowView>('SkewRow', 'What one of them carries.', {
  name: text('Its name.'),
  zone: textOrNull('Where it is.'),
  requests: numberOf('Requests in the time.'),
  capacity: numberOf('Capacity on any one scale; 1 each where none is known, 0 = not known beside others that are.'),
  factor: numberOrNull('Requests per capacity over the mean; null where too little was asked.'),
  steps: listOf(numberOrNull('The same in one step.'), 'By step.'),
});

const SKEW_DAY = viewSchema<SkewDayView>('SkewDay', 'One day of UTC.', {
  from: FROM,
  maxOverMean: numberOrNull('Largest factor.'),
  hottest: textOrNull('Who had it.'),
});

export const SKEW = viewSchema<SkewView>('Skew', 'Who carries more than its share.', {
  by: oneOf(SKEW_BY, 'As asked.'),
  cluster: textOrNull('Whose hosts; null for balancers.'),
  from: FROM,
  to: TO,
  stepSeconds: STEP,
  stepEnds: listOf(instant('End of a step.'), 'Oldest first.'),
  maxOverMean: numberOrNull('Largest factor.'),
  rows: listOf(ref<SkewRowView>(SKEW_ROW), 'Hottest first, 200 at most.'),
  days: listOf(ref<SkewDayView>(SKEW_DAY), 'Oldest first, 8 at most; none without enough requests.'),
  clusters: texts('That can be asked for.'),
});

export const HISTORY_SCHEMAS = [
  [TIER, BUDGET_POINT, SPENT, SLO_HISTORY],
  [STAGE_POINT, STAGE, PLACE_STAGE, STAGE_PLACE, WHOLE_REQUESTS, STAGES_VIEW],
  [RED_ROW, RED_POINT, RED, TLS_ROW, TLS_POINT, CERTIFICATE, TLS, SKEW_ROW, SKEW_DAY, SKEW],
].flat();
