import { Type } from 'typebox';
import { FIDELITIES, type StageFidelities } from '../model/stages.ts';
import type {
  BalancerView,
  BoundsAroundView,
  BracketView,
  ExhaustionView,
  GroupViewOut,
  LeftOutView,
  SliceCoverageView,
  SloMemberView,
  SloView,
} from '../model/views.ts';
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
  oneOfOrNull,
  pageSchema,
  ref,
  refOrNull,
  SEVERITIES,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';

export const EXHAUSTION = viewSchema<ExhaustionView>(
  'Exhaustion',
  'When the error budget would be gone if errors went on as they are.',
  {
    exhausted: flag('The budget is gone now.'),
    seconds: numberOrNull(
      'Seconds until it is gone, resets of a calendar window counted in; null = never on this course, 0 = exhausted.',
    ),
    low: numberOrNull('Lower end of the band, in seconds.'),
    high: numberOrNull('Upper end of the band, in seconds.'),
    paceSeconds: numberOrNull('SLO window divided by burn rate, in seconds; null when nothing burns.'),
    recoversAt: instantOrNull('When the budget is positive again if errors stopped now; null unless exhausted.'),
  },
);

export const BRACKET = viewSchema<BracketView>(
  'Bracket',
  'Where a figure lies for certain, when a latency threshold lies between two bounds of a histogram.',
  {
    low: numberOf('With everything between the bounds bad: what is reported and alerted on.'),
    high: numberOf('With everything between the bounds good.'),
  },
);

export const SLICE_COVERAGE = viewSchema<SliceCoverageView>(
  'SliceCoverage',
  'Slices that end in the SLO window. One without data is neither good nor bad, and in no denominator.',
  {
    observed: wholeOf('Slices with data, those without events included.'),
    expected: wholeOf('All slices.'),
    coverage: numberOf('observed / expected.'),
  },
);

export const SLO_MEMBER = viewSchema<SloMemberView>(
  'SloMember',
  'What one member of a composite SLO counted, in events.',
  {
    name: text('displayName of its objective.'),
    weight: numberOf('compositeWeight.'),
    good: numberOf('Good events observed in the SLO window.'),
    bad: numberOf('Bad events observed in the SLO window.'),
    total: numberOf('Events observed in the SLO window.'),
    sli: numberOrNull('good / total; null without events: it burns nothing then.'),
    spent: numberOrNull(
      "Share of the composite's budget that it has spent; null without events, and where slices are counted.",
    ),
  },
);

export const LEFT_OUT = viewSchema<LeftOutView>('LeftOut', 'What corrections take out of a budget.', {
  good: numberOf('Good events of the SLO window that do not count.'),
  bad: numberOf('Bad events of the SLO window that do not count.'),
  corrections: listOf(wholeOf('Correction.id'), 'The corrections that do it.'),
});

export const GROUP = viewSchema<GroupViewOut>('Group', 'One group of an SLO: its SLI, its budget, its burn.', {
  labels: labelSet('What tells this group from its siblings; empty when the SLO is not grouped.'),
  state: oneOf(['measured', 'no_traffic', 'no_data'], 'Whether there is something to judge by.'),
  coverage: numberOf('Share of the SLO window that has data, 0 to 1.'),
  good: numberOf(
    'Good events observed in the SLO window; where slices are counted, good slices, or sums of their ratios.',
  ),
  bad: numberOf('Bad events observed in the SLO window, or slices likewise.'),
  total: numberOf('Events observed in the SLO window, or slices with data that the watermark has passed.'),
  slices: refOrNull(SLICE_COVERAGE, 'How many slices have data; null where events are counted.'),
  members: Type.Unsafe({
    type: ['array', 'null'],
    items: { $ref: `${SLO_MEMBER.$id}#` },
    description: 'Of a composite SLO, its members; null otherwise.',
  }),
  sli: numberOrNull('good / total, or of a composite the weighted mean of its members; null without events.'),
  sliBracket: refOrNull(BRACKET, 'SLI at worst and at best; null where it is exact.'),
  leftOut: refOrNull(
    LEFT_OUT,
    'What corrections take out of budget and burn; good, bad, total and sli still hold it. Null = nothing.',
  ),
  budgetRemaining: numberOrNull('Share of the error budget that is left; below 0 when overspent.'),
  budgetRemainingBracket: refOrNull(BRACKET, 'The same at worst and at best; null where it is exact.'),
  budgetRemainingSoFar: numberOrNull(
    'Calendar windows: the same if the period ended now, without the traffic expected until its end; else null.',
  ),
  resetsAt: instantOrNull('Calendar windows: when the budget starts afresh; else null.'),
  burn: numbersByName('Burn rate by alert window (5m, 30m, 1h, ...); null without events in it.'),
  exhaustion: ref<ExhaustionView>(EXHAUSTION),
  tier: textOrNull('Highest tier that holds; null when none does.'),
  tiersHolding: texts('Every tier that holds, highest first.'),
  severity: oneOfOrNull(SEVERITIES, 'Severity of the tier; null when none holds.'),
});

export const SLO = viewSchema<SloView>('Slo', 'A service level objective and its groups.', {
  id: text('metadata.name, or name:displayName where the file has several objectives.'),
  service: text('spec.service.'),
  displayName: text('What people call it.'),
  objective: text('Target as written in the file, e.g. 0.999.'),
  window: text('SLO window as written in the file, e.g. 30d.'),
  rolling: flag('Whether the window rolls; otherwise it follows the calendar.'),
  budgetingMethod: oneOf(
    ['Occurrences', 'Timeslices', 'RatioTimeslices'],
    'What the budget is a share of: events, good and bad slices of time, or slices by their own ratios.',
  ),
  timeSliceSeconds: numberOrNull('Width of a slice in seconds; null where events are counted.'),
  timeSliceTarget: textOrNull('Share of good events from which a slice is good, as written; null but for Timeslices.'),
  labels: labelSet('metadata.labels.'),
  groups: listOf(ref<GroupViewOut>(GROUP), 'Groups, one per combination of group-by values.'),
});

const fidelityOf = (stage: string) => oneOf([...FIDELITIES, 'absent'], `How faithfully it reports ${stage}.`);

export const STAGE_FIDELITIES = viewSchema<StageFidelities>(
  'StageFidelities',
  'What a balancer tells of each stage. absent = nothing; no figure of it is ever drawn.',
  {
    accept_queue: fidelityOf('the wait of a connection until it is accepted'),
    tls: fidelityOf('the TLS handshake'),
    connect: fidelityOf('the connect to a host'),
    backend: fidelityOf('the wait for the first byte of a host'),
    write: fidelityOf('the writing of the response'),
  },
);

export const BOUNDS_AROUND = viewSchema<BoundsAroundView>(
  'BoundsAround',
  "A latency SLO's threshold that is no bound of the balancer's histograms: what lies around it counts as bad.",
  {
    slo: text('Id of the SLO.'),
    threshold: numberOf('Its threshold, in seconds.'),
    below: numberOf('Nearest bound below, in seconds; 0 where there is none.'),
    above: numberOrNull('Nearest bound above, in seconds; null past the last.'),
    fix: text("What makes it exact, in the balancer's own terms."),
  },
);

export const BALANCER = viewSchema<BalancerView>('Balancer', 'A balancer that pushes metrics.', {
  id: text('Identity: service.instance.id, or the next that it has of pod, host, header, peer address.'),
  flavor: text('Whose vocabulary it speaks.'),
  version: textOrNull('Version of its software, if it says.'),
  zone: textOrNull('Its zone, if it says.'),
  lastSeen: instant('Time of its newest point.'),
  intervalSeconds: numberOf('Usual time between two pushes, in seconds.'),
  stale: flag('Silent for longer than its interval allows.'),
  clusters: texts('Clusters that it reports on.'),
  seriesCount: wholeOf('Series held for it.'),
  stages: ref<StageFidelities>(STAGE_FIDELITIES),
  metricsUnderstood: texts('Names of its metrics that are known, those that repeat another one included.'),
  metricsIgnored: texts('Names of its metrics that are unknown, or cannot be taken faithfully.'),
  thresholdsBetweenBounds: listOf(
    ref<BoundsAroundView>(BOUNDS_AROUND),
    'Latency thresholds that its histograms cannot tell exactly.',
  ),
});

export const SLO_PAGE = pageSchema('SloPage', ref<SloView>(SLO));
export const BALANCER_PAGE = pageSchema('BalancerPage', ref<BalancerView>(BALANCER));
