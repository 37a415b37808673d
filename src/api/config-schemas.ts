import type { ConfigDeltaView, ConfigHealthView, ConfigVersionView } from '../model/views.ts';
import {
  flag,
  instant,
  listOf,
  numberOf,
  numberOrNull,
  oneOf,
  pageSchema,
  ref,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';

const MEASURES = ['errors', 'added_p99', 'cpu'] as const;
const KIND = text('Part of the configuration (cds, file, ...); empty where it is not told.');

export const RUN_VERSION = viewSchema<ConfigVersionView>('ConfigVersion', 'A config version that balancers run.', {
  kind: KIND,
  version: text('As balancers tell it.'),
  previous: textOrNull('What most of its balancers ran before; null where that is not known.'),
  since: instant('When the first of them began to run it.'),
  balancers: texts('Balancers that run it and are heard.'),
});

export const VERSION_DELTA = viewSchema<ConfigDeltaView>('ConfigDelta', 'One measure beside one comparison.', {
  measure: oneOf(MEASURES, 'errors = share of 5xx; added_p99 in seconds; cpu = utilization.'),
  against: oneOf(['rest', 'before'], 'Balancers still on the version before, or the time before the change.'),
  value: numberOf('Of the version.'),
  other: numberOf('Of what it is compared with.'),
  sample: numberOf('Requests, or readings of CPU, behind value.'),
  otherSample: numberOf('The same behind other.'),
  chance: numberOrNull('Chance that the version is no worse; null where it is not a matter of counts.'),
  worse: flag('Worse by the thresholds of ConfigPushRegression.'),
});

export const VERSION_HEALTH = viewSchema<ConfigHealthView>(
  'ConfigHealth',
  'A config version beside what it replaced.',
  {
    kind: KIND,
    version: text('As balancers tell it.'),
    previous: textOrNull('The version it is compared with.'),
    since: instant('When the first balancer began to run it.'),
    stage: oneOf(['canary', 'zone', 'region', 'global'], 'How far it has come.'),
    verdict: oneOf(['promote', 'hold', 'rollback'], 'hold = too young, or too few requests to say.'),
    worse: listOf(oneOf(MEASURES, 'A measure.'), 'Measures that are worse than all they can be compared with.'),
    deltas: listOf(ref<ConfigDeltaView>(VERSION_DELTA), 'Every comparison that has enough behind it.'),
    requests: wholeOf('Requests that the version has answered in the window.'),
    rarestSeen: numberOf('The rarest fault, as a share of requests, that so many would have shown with 95 %.'),
    balancers: texts('Balancers that run it.'),
    rest: texts('Balancers that still run the version before.'),
  },
);

export const VERSION_PAGE = pageSchema('ConfigVersionPage', ref<ConfigVersionView>(RUN_VERSION));
