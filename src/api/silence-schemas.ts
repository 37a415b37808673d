import { Type } from 'typebox';
import { SILENCE_STATES, type SilenceMatcher } from '../model/mute.ts';
import type { AlertView, IncidentView, PastAlertView, SilencePreviewView, SilenceView } from '../model/views.ts';
import { ALERT, INCIDENT } from './incident-schemas.ts';
import {
  flag,
  instant,
  instantOrNull,
  labelSet,
  listOf,
  oneOf,
  pageSchema,
  ref,
  SEVERITIES,
  text,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';

export const SILENCE_MATCHER = viewSchema<SilenceMatcher>('SilenceMatcher', 'What a label must be, or must not be.', {
  name: text('Name of the label.'),
  value: text('The value, or a pattern that is anchored at both ends; a missing label is empty.'),
  isRegex: flag('Whether value is a pattern.'),
  isEqual: flag('False = it must not be that.'),
});

export const SILENCE_STATUS = viewSchema<SilenceView['status']>('SilenceStatus', 'Where a silence stands.', {
  state: oneOf(SILENCE_STATES, 'pending = begins later.'),
});

/** As Alertmanager writes a silence. */
const SILENCE_FIELDS = {
  id: text('Id.'),
  status: ref<SilenceView['status']>(SILENCE_STATUS),
  matchers: listOf(ref<SilenceMatcher>(SILENCE_MATCHER), 'All must match.'),
  startsAt: instant('Begin.'),
  endsAt: instant('End.'),
  updatedAt: instant('When it was last changed.'),
  createdBy: text('Who.'),
  comment: text('Why.'),
};

export const SILENCE = viewSchema<SilenceView>('Silence', 'A time in which nobody is told of some alerts.', {
  ...SILENCE_FIELDS,
  alerts: wholeOf('Alerts that it mutes now.'),
});

export const GETTABLE_SILENCE = viewSchema<Omit<SilenceView, 'alerts'>>(
  'GettableSilence',
  'A silence as in the API of Alertmanager.',
  SILENCE_FIELDS,
);

export const SILENCE_PAGE = pageSchema('SilencePage', ref<SilenceView>(SILENCE));

export const PAST_ALERT = viewSchema<PastAlertView>('PastAlert', 'An alert that fired lately.', {
  name: text('Name.'),
  labels: labelSet('Its labels.'),
  severity: oneOf(SEVERITIES, 'page or ticket.'),
  incident: wholeOf('Id of the incident that has it.'),
  since: instant('When it last began to fire.'),
  resolvedAt: instantOrNull('When it resolved; null while it fires.'),
});

export const SILENCE_PREVIEW = viewSchema<SilencePreviewView>('SilencePreview', 'What a silence would mute.', {
  alerts: listOf(ref<AlertView>(ALERT), 'Alerts that fire now.'),
  incidents: listOf(ref<IncidentView>(INCIDENT), 'Incidents with one of them.'),
  past: listOf(ref<PastAlertView>(PAST_ALERT), 'What fired since pastSince, newest incident first, at most 500.'),
  pastCount: wholeOf('How many there are.'),
  pastSince: instant('How far back that goes.'),
});

/** A matcher of a request; Alertmanager's clients leave isEqual out. */
const matcher = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 1000, description: 'Name of the label.' }),
    value: Type.String({ maxLength: 2000, description: 'Value or pattern.' }),
    isRegex: Type.Optional(Type.Boolean({ description: 'Whether value is a pattern; false unless given.' })),
    isEqual: Type.Optional(Type.Boolean({ description: 'False = it must not be that; true unless given.' })),
  },
  { additionalProperties: false },
);

export const REQUEST_MATCHERS = Type.Array(matcher, { minItems: 1, maxItems: 100, description: 'All must match.' });

export const toMatchers = (
  given: readonly { name: string; value: string; isRegex?: boolean; isEqual?: boolean }[],
): readonly SilenceMatcher[] =>
  given.map(({ name, value, isRegex = false, isEqual = true }) => ({ name, value, isRegex, isEqual }));

const optional = (description: string, maxLength: number) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength, description }));

export const SILENCE_REQUEST = Type.Object(
  {
    id: optional('Of one to edit; absent or empty = a new one.', 100),
    matchers: REQUEST_MATCHERS,
    startsAt: optional('RFC 3339; now unless given.', 40),
    endsAt: Type.String({ maxLength: 40, description: 'RFC 3339, in the future.' }),
    createdBy: optional('Who; by default the name of the token, or "unknown".', 200),
    comment: optional('Why.', 2000),
  },
  { additionalProperties: false },
);
