import { Type } from 'typebox';
import type { GettableAlert } from './alertmanager.ts';
import { instant, labelSet, listOf, named, oneOf, ref, text, texts, viewSchema } from './schema-parts.ts';

export const ALERT_STATUS = viewSchema<GettableAlert['status']>(
  'GettableAlertStatus',
  'Whether people are told of it.',
  {
    state: oneOf(['active', 'suppressed'], 'suppressed = muted.'),
    inhibitedBy: texts('Fingerprints of the alerts that inhibit it, one for each rule.'),
    silencedBy: texts('Ids of silences.'),
    mutedBy: texts('Names of mute intervals.'),
  },
);

export const RECEIVER_NAME = named(
  'ReceiverName',
  Type.Object({ name: text('Its name.') }, { description: 'A receiver.', additionalProperties: false }),
);

export const GETTABLE_ALERT = viewSchema<GettableAlert>('GettableAlert', 'An alert as in the API of Alertmanager.', {
  annotations: labelSet('summary and runbook_url.'),
  endsAt: instant('It is taken as over then, unless it goes on.'),
  fingerprint: text('FNV-1a of the labels, 16 hex digits.'),
  generatorURL: text('The incident that has it.'),
  labels: labelSet('Its labels, place, name and severity, as matchers of silences see them.'),
  receivers: listOf(ref<{ name: string }>(RECEIVER_NAME), 'Who is told of its incident.'),
  startsAt: instant('When it began to fire.'),
  status: ref<GettableAlert['status']>(ALERT_STATUS),
  updatedAt: instant('When it was last looked at.'),
});

export const SILENCE_ID = named(
  'SilenceId',
  Type.Object({ silenceID: text('Id of the silence.') }, { description: 'A silence.', additionalProperties: false }),
);

const group = (description: string, fields: Record<string, string>) =>
  Type.Object(Object.fromEntries(Object.entries(fields).map(([name, what]) => [name, text(what)])), {
    description,
    additionalProperties: false,
  });

export const ALERTMANAGER_STATUS = named(
  'AlertmanagerStatus',
  Type.Object(
    {
      cluster: Type.Object(
        { status: text('disabled: one process.'), name: text('Empty.'), peers: Type.Array(Type.Unsafe<never>({})) },
        { description: 'Peers of a cluster; there are none.', additionalProperties: false },
      ),
      config: group('Where the configuration is.', { original: 'A comment that says where.' }),
      uptime: instant('When this process began.'),
      versionInfo: group('What answers.', {
        branch: 'Empty.',
        buildDate: 'Empty.',
        buildUser: 'Empty.',
        goVersion: 'Empty.',
        revision: 'Empty.',
        version: 'Version of slowburn.',
      }),
    },
    { description: 'Status as in the API of Alertmanager.', additionalProperties: false },
  ),
);

export const NOTHING = named(
  'Nothing',
  Type.Object({}, { description: 'Nothing more to say.', additionalProperties: false }),
);
