import { type TSchema, Type } from 'typebox';
import {
  COSTS,
  type CostShareView,
  type CostTotalView,
  type CostView,
  type HeadroomView,
  SCORE_IDS,
  SCORE_STATES,
  type ScorecardView,
  type ScoreView,
  type ServiceCostView,
  type VersionTrafficView,
} from '../model/scorecard.ts';
import {
  flag,
  instant,
  instantOrNull,
  listOf,
  named,
  numberOf,
  numberOrNull,
  oneOf,
  ref,
  refOrNull,
  text,
  textOrNull,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';

const week = {
  week: text('ISO 8601: `2026-W48`.'),
  from: instant('Monday, 00:00 UTC.'),
  to: instant('The Monday after.'),
  hours: wholeOf('Hours of the week of which anything is known.'),
  complete: flag('The week was over: asked again, the answer is the same.'),
};

export const SCORE_TARGET = named(
  'ScoreTarget',
  Type.Object(
    {
      is: oneOf(['below', 'above', 'at_most'] as const, 'What the value must be.'),
      value: numberOf('In the unit of the value.'),
    },
    { description: 'From scorecard.yaml.', additionalProperties: false },
  ),
);

export const SCORE = viewSchema<ScoreView>('Score', 'One line of the traffic standard.', {
  id: oneOf(SCORE_IDS, 'Which line.'),
  title: text('The same for people.'),
  value: numberOrNull('Null where it is not known. Shares 0 to 1, times in seconds.'),
  unit: text('`1` = a share.'),
  target: ref<ScoreView['target']>(SCORE_TARGET),
  state: oneOf(SCORE_STATES, 'Whether the target was met.'),
  detail: text('Where, and out of what; where it is not known, why.'),
});

export const HEADROOM = viewSchema<HeadroomView>('Headroom', 'CPU in the busiest hour if no handshake resumed.', {
  hour: instantOrNull('End of the busiest hour: that with most requests of clients.'),
  balancer: textOrNull('The balancer that would use most.'),
  cpu: numberOrNull('What it used; 1 = all of it.'),
  cpuIfFull: numberOrNull('What it would have used if every handshake had been full.'),
  headroom: numberOrNull('1 less that; below 0 it would not get through the hour.'),
  detail: text('Why it is not known, else what it rests on.'),
});

export const SCORECARD = viewSchema<ScorecardView>('Scorecard', 'A week against the traffic standard.', {
  ...week,
  scores: listOf(ref<ScoreView>(SCORE), 'Each line of the standard, always all of them.'),
  headroom: ref<HeadroomView>(HEADROOM),
});

export const COST_SHARE = viewSchema<CostShareView>('CostShare', 'What a service took of something.', {
  amount: numberOf('In the unit of the total.'),
  share: numberOf('Of what all services took, 0 to 1.'),
});

export const COST_TOTAL = viewSchema<CostTotalView>('CostTotal', 'What all services took.', {
  total: numberOrNull('Null where nobody tells it.'),
  unit: text('Of the total and of each amount.'),
  detail: text('What is counted; where it is not known, why.'),
});

const perCost = (id: string, description: string, of: (cost: string) => TSchema) =>
  named(
    id,
    Type.Object(Object.fromEntries(COSTS.map((cost) => [cost, of(cost)])), {
      description,
      additionalProperties: false,
    }),
  );

export const COST_TOTALS = perCost('CostTotals', 'By what is shared.', () => ref<CostTotalView>(COST_TOTAL));
export const SERVICE_COSTS = perCost('ServiceCosts', 'By what is shared.', () =>
  refOrNull(COST_SHARE, 'Null where nobody tells it of this service.'),
);

export const SERVICE_COST = viewSchema<ServiceCostView>('ServiceCost', 'What one service cost.', {
  service: text('Name of the listener or cluster; `not told` for listeners without one.'),
  kinds: listOf(oneOf(['listener', 'cluster'] as const, 'What it is.'), 'Both where they have the same name.'),
  costs: ref<ServiceCostView['costs']>(SERVICE_COSTS),
});

export const VERSION_TRAFFIC = viewSchema<VersionTrafficView>('VersionTraffic', 'Requests that a config answered.', {
  version: text('Config version.'),
  kind: text('Part of the configuration; empty where it is not told.'),
  requests: wholeOf('Of clients, answered by balancers that ran it.'),
  errors: wholeOf('Of those, answered 5xx.'),
  share: numberOf('Of the requests of all versions of that kind.'),
});

export const COST = viewSchema<CostView>('Cost', 'What services cost in a week.', {
  ...week,
  totals: ref<CostView['totals']>(COST_TOTALS),
  services: listOf(ref<ServiceCostView>(SERVICE_COST), 'Those with the largest share of anything first.'),
  versions: listOf(ref<VersionTrafficView>(VERSION_TRAFFIC), 'Those with most requests first.'),
});

export const SCORECARD_SCHEMAS = [
  ...[SCORE_TARGET, SCORE, HEADROOM, SCORECARD],
  ...[COST_SHARE, COST_TOTAL, COST_TOTALS, SERVICE_COSTS, SERVICE_COST, VERSION_TRAFFIC, COST],
];
