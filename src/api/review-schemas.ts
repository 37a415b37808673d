import { MEASURE_NAMES } from '../model/measure.ts';
import {
  type ReviewBudget,
  type ReviewCertificate,
  type ReviewConfig,
  type ReviewFollowUp,
  type ReviewIncident,
  type ReviewLevel,
  type ReviewPageLoad,
  type ReviewTask,
  type ReviewTrend,
  TASK_KINDS,
  type WeeklyReview,
} from '../model/review.ts';
import type {
  CostView,
  HeadroomView,
  HostSpreadView,
  ScoreView,
  ServiceCostView,
  VersionTrafficView,
  ZoneUseView,
} from '../model/scorecard.ts';
import {
  flag,
  instant,
  instantOrNull,
  labelSet,
  listOf,
  type NamedSchema,
  numberOf,
  numberOrNull,
  oneOf,
  ref,
  refOrNull,
  SEVERITIES,
  text,
  textOrNull,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';
import { COST_TOTALS, HEADROOM, SCORE, SERVICE_COST, VERSION_TRAFFIC } from './scorecard-schemas.ts';

const UNIT = 'Of the values; 1 = a ratio.';
const UNKNOWN = 'Why there is nothing, or not all; null = these are all there are.';
const GROUP_LABELS = 'Labels of the group.';

const DAY_VALUE = viewSchema<ReviewTrend['days'][number]>('ReviewDayValue', 'A measure on one day.', {
  until: instant('End of the day.'),
  value: numberOrNull('Null = nothing was kept of it.'),
});
const DAY_LEFT = viewSchema<ReviewBudget['days'][number]>('ReviewDayLeft', 'A budget at the end of one day.', {
  until: instant('End of the day.'),
  left: numberOrNull('Share that was left; null = not known.'),
});
const NOISE = viewSchema<NonNullable<ReviewIncident['noise']>>('ReviewNoise', 'A judgement: nobody had to be told.', {
  by: text('Who said so.'),
  at: instant('When.'),
  note: textOrNull('Why.'),
});
const TASK = viewSchema<ReviewTask>('ReviewTask', 'Something to do.', {
  kind: oneOf(TASK_KINDS, 'In the order in which kinds are ranked.'),
  title: text('What.'),
  reason: text('Why it stands where it stands.'),
  link: textOrNull('Path of the page that leads on.'),
});
const TREND = viewSchema<ReviewTrend>('ReviewTrend', 'A slow change for the worse, below every page and ticket.', {
  subject: labelSet('cluster, zone, balancer; empty = the whole fleet.'),
  measure: oneOf(MEASURE_NAMES, 'What changes.'),
  unit: text(UNIT),
  alert: text('The alert whose slow sibling it is.'),
  owner: text('Who acts on that alert.'),
  runbook: text('Its runbook.'),
  now: numberOf('Middle of the last seven days; of counts the mean per day.'),
  before: numberOf('The same of the first seven days.'),
  slopePerWeek: numberOf('Median change a week of days compared hour by hour.'),
  confidence: numberOf('1 less the chance of so much order without a trend.'),
  samples: wholeOf('Hours behind it.'),
  summary: text('In one sentence.'),
  days: listOf(ref<ReviewTrend['days'][number]>(DAY_VALUE), 'Its course, the oldest day first.'),
});
const BUDGET = viewSchema<ReviewBudget>('ReviewBudget', 'An error budget over the week.', {
  slo: text('Id of the SLO.'),
  labels: labelSet(GROUP_LABELS),
  objective: text('As in its file.'),
  window: text('As in its file.'),
  leftAtStart: numberOrNull('Share left when the week began.'),
  leftAtEnd: numberOrNull('Share left at its end.'),
  spent: numberOrNull('Share spent in it.'),
  bad: numberOf('Bad events, or slices, in it.'),
  days: listOf(ref<ReviewBudget['days'][number]>(DAY_LEFT), 'From the start of the week on.'),
});
const REVIEWED = viewSchema<ReviewIncident>('ReviewIncident', 'An incident as it stood at the end of the week.', {
  id: wholeOf('Its number.'),
  title: text('What was wrong.'),
  severity: oneOf(SEVERITIES, 'Highest among its alerts then.'),
  openedAt: instant('When it opened.'),
  resolvedAt: instantOrNull('When it resolved; null = not by then.'),
  pages: wholeOf('Pages sent in the week, each receiver its own.'),
  spent: numberOrNull('Share of a budget that it took in the week; null = of none.'),
  spentOf: textOrNull('The SLO of which it took most.'),
  noise: refOrNull(NOISE, 'Who judged its pages noise; null = nobody.'),
});
const PAGE_LOAD = viewSchema<ReviewPageLoad>('ReviewPageLoad', 'Pages of one receiver: one person at any time.', {
  receiver: text('Its name.'),
  pages: wholeOf('In the week.'),
  noise: wholeOf('Of those, judged noise.'),
  personHours: numberOf('Hours of the week.'),
  pagesPerPersonHour: numberOf('Pages by those hours.'),
  mostInShift: wholeOf('Most within any 12 hours.'),
});
const LEVEL = viewSchema<ReviewLevel>('ReviewLevel', 'A measure in this week and those before.', {
  measure: oneOf(MEASURE_NAMES, 'What is measured.'),
  unit: text(UNIT),
  subject: labelSet('cluster, zone, balancer; empty = the whole fleet.'),
  weeks: listOf(numberOrNull('Middle of its hours; of counts the mean per day.'), 'The oldest first, this week last.'),
  change: numberOrNull('This week less the mean of those before.'),
});
const CONFIG = viewSchema<ReviewConfig>('ReviewConfig', 'What config rollouts used of a budget.', {
  slo: text('Id of the SLO.'),
  labels: labelSet(GROUP_LABELS),
  share: numberOf('At its most in the week.'),
  isOver: flag('Whether that is more than the policy allows.'),
});
const DUE = viewSchema<ReviewCertificate>('ReviewCertificate', 'A certificate that ends within 30 days.', {
  name: text('Its name.'),
  notAfter: instant('When it ends.'),
  daysLeft: wholeOf('At the end of the week.'),
  balancers: wholeOf('That serve it.'),
  renewedAt: instantOrNull('Last renewal; null = none was seen.'),
});
const FOLLOW_UP = viewSchema<ReviewFollowUp>('ReviewAction', 'An action that was not done by the end of the week.', {
  id: wholeOf('Its number.'),
  incident: wholeOf('That it follows from.'),
  title: text('What is to be done.'),
  owner: text('By whom.'),
  due: text('By which day, UTC.'),
  isOverdue: flag('That day is over.'),
});

/** A part of the review: its items, why there may be none, and what else belongs to it. */
const part = <View>(id: string, item: NamedSchema, more: object = {}): NamedSchema =>
  viewSchema<{ items: View; unknown: string | null }>(id, 'A part of the review.', {
    items: listOf(ref(item), 'Worst first.'),
    unknown: textOrNull(UNKNOWN),
    ...more,
  });

const PARTS = {
  trends: part('ReviewTrends', TREND, { weeks: wholeOf('Of which figures are known, at most five.') }),
  budgets: part('ReviewBudgets', BUDGET),
  incidents: part('ReviewIncidents', REVIEWED),
  pageLoad: part('ReviewPageLoads', PAGE_LOAD),
  levels: part('ReviewLevels', LEVEL),
  config: part('ReviewConfigs', CONFIG, { limit: numberOrNull('Share that the policy allows; null = none is set.') }),
  certificates: part('ReviewCertificates', DUE),
  followUps: part('ReviewActions', FOLLOW_UP),
} as const;

const HOST_SPREAD = viewSchema<HostSpreadView>('HostSpread', 'The busiest host of a cluster over the mean.', {
  cluster: text('Of which.'),
  maxOverMean: numberOf('Requests per capacity over the mean, in the hour in which that was most.'),
  host: text('Which host that was.'),
  hour: instant('End of that hour.'),
  mean: numberOf('Mean over all hours.'),
});
const ZONE_USE = viewSchema<ZoneUseView>('ZoneUse', 'What the hosts of a zone used of their capacity.', {
  cluster: text('Of which.'),
  zone: text('Of which.'),
  utilization: numberOf('Mean over all hours, 0 to 1.'),
  most: numberOf('The highest of them.'),
  hour: instant('End of that hour.'),
});
const SPREAD = viewSchema<WeeklyReview['spread']>('ReviewSpread', 'Who carried more than others.', {
  hosts: listOf(ref<HostSpreadView>(HOST_SPREAD), 'By cluster, the most uneven first.'),
  zones: listOf(ref<ZoneUseView>(ZONE_USE), 'Where balancers tell utilization, the highest first.'),
});
const STANDARD = viewSchema<WeeklyReview['standard']>('ReviewStandard', 'As GET /api/v1/scorecard has it.', {
  scores: listOf(ref<ScoreView>(SCORE), 'Each line of the traffic standard.'),
  headroom: ref<HeadroomView>(HEADROOM),
});
const COSTS_OF_WEEK = viewSchema<WeeklyReview['cost']>('ReviewCost', 'As GET /api/v1/cost has it.', {
  totals: ref<CostView['totals']>(COST_TOTALS),
  services: listOf(ref<ServiceCostView>(SERVICE_COST), 'Those with the largest share of anything first.'),
  versions: listOf(ref<VersionTrafficView>(VERSION_TRAFFIC), 'Requests by config version.'),
});

export const REVIEW = viewSchema<WeeklyReview>('WeeklyReview', 'The review of one ISO week.', {
  week: text('ISO 8601: 2026-W48, Monday 00:00 UTC to Monday.'),
  from: instant('Its start.'),
  to: instant('Its end.'),
  previous: text('The week before.'),
  next: text('The week after.'),
  state: oneOf(['over', 'running', 'no_data', 'ahead'], 'no_data = nothing was kept of it; ahead = not begun.'),
  until: instant('What is told ends here.'),
  hours: wholeOf('Hours of the week until then.'),
  hoursKnown: wholeOf('Of those, with anything kept.'),
  headline: text('The week in one line.'),
  toDo: listOf(ref<ReviewTask>(TASK), 'At most three, the most pressing first.'),
  trends: ref(PARTS.trends),
  budgets: ref(PARTS.budgets),
  incidents: ref(PARTS.incidents),
  pageLoad: ref(PARTS.pageLoad),
  levels: ref(PARTS.levels),
  config: ref(PARTS.config),
  standard: ref(STANDARD),
  cost: ref(COSTS_OF_WEEK),
  spread: ref(SPREAD),
  certificates: ref(PARTS.certificates),
  followUps: ref(PARTS.followUps),
});

export const REVIEW_SCHEMAS: readonly NamedSchema[] = [
  DAY_VALUE,
  DAY_LEFT,
  NOISE,
  TASK,
  TREND,
  BUDGET,
  REVIEWED,
  PAGE_LOAD,
  LEVEL,
  CONFIG,
  DUE,
  FOLLOW_UP,
  HOST_SPREAD,
  ZONE_USE,
  SPREAD,
  STANDARD,
  COSTS_OF_WEEK,
  ...Object.values(PARTS),
  REVIEW,
];
