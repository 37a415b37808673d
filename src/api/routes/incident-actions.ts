import { type Static, Type } from 'typebox';
import { assertNever } from '../../base/assert.ts';
import { parseInstant } from '../../base/instant.ts';
import { CHECK_IDS, type CheckId } from '../../model/practice.ts';
import type { CommandOutcome, Commands, IncidentDetailView } from '../../model/views.ts';
import { callerOf } from '../caller.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { INCIDENT_DETAIL } from '../incident-schemas.ts';
import { badField, ProblemError, problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';
import { incidentParams, noSuchIncident } from './incidents.ts';

type ActionKind = Parameters<Commands['act']>[1]['kind'];

/** What each action does, and whether it takes a time until which it holds. */
const ACTIONS: Readonly<Record<ActionKind, { readonly summary: string; readonly until: 'no' | 'may' | 'must' }>> = {
  acknowledge: { summary: 'Someone works on it: stops repeated pages.', until: 'may' },
  unacknowledge: { summary: 'Nobody works on it any more.', until: 'no' },
  resolve: { summary: 'It is over, whatever its alerts say.', until: 'no' },
  reopen: { summary: 'It is not over after all.', until: 'no' },
  snooze: { summary: 'Quiet until a time.', until: 'must' },
  update: { summary: 'Customers were told; needs note, what they were told.', until: 'may' },
  note: { summary: 'Adds a line to its timeline; needs note.', until: 'no' },
  merge: { summary: 'Its alerts go on in another open incident; needs into.', until: 'no' },
  split: { summary: 'Some of its alerts go on in an incident of their own; needs alerts.', until: 'no' },
};

const optionalText = (description: string, maxLength: number, pattern = '[^]*') =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength, pattern, description }));

const fields = Type.Object({
  by: optionalText('Who acts; by default the name of the token, or "unknown".', 200, '^[^\\u0000-\\u001f\\u007f]*$'),
  note: optionalText('Why, for the timeline.', 10_000),
  until: optionalText('RFC 3339 time in the future.', 40),
  into: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Of merge: the incident that stays.',
    }),
  ),
  alerts: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      minItems: 1,
      maxItems: 10_000,
      description: 'Of split: keys of the alerts that go.',
    }),
  ),
  checks: Type.Optional(
    Type.Unsafe<CheckId[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', enum: [...CHECK_IDS] },
      description: 'Of resolve: what of the checklist was seen to; what is left out needs a note.',
    }),
  ),
});

/** Null = no body at all. */
const body = Type.Unsafe<Static<typeof fields> | null>({
  type: ['object', 'null'],
  description: 'May be left out where nothing in it is needed.',
  properties: fields.properties,
  additionalProperties: false,
});

export function registerIncidentActionRoutes(app: Api, { queries, commands }: RouteDeps): void {
  for (const kind of Object.keys(ACTIONS) as ActionKind[]) {
    app.post(
      `/api/v1/incidents/:id/${kind}`,
      {
        schema: {
          operationId: `${kind}Incident`,
          tags: ['incidents'],
          summary: ACTIONS[kind].summary,
          params: incidentParams,
          body,
          response: {
            200: ref<IncidentDetailView>(INCIDENT_DETAIL),
            ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_CONFLICT', 'API_UNAVAILABLE'),
          },
        },
      },
      (request): IncidentDetailView => {
        const { id } = request.params;
        const given = request.body ?? {};
        const by = given.by?.trim() || callerOf(request).name || 'unknown';
        const note = given.note?.trim() || null;
        const until = given.until ?? null;
        checkFields(kind, note, until, queries.now());
        const { into = null, alerts = null, checks = null } = given;
        if (checks !== null && kind !== 'resolve')
          throw badField('checks', `means nothing for ${kind}; only resolve takes it`);
        checkParties(kind, into, alerts);
        const parties = kind === 'merge' ? { into } : kind === 'split' ? { alerts } : checks === null ? {} : { checks };
        return incidentAfter(id, commands.act(id, { kind, by, note, until, ...parties }));
      },
    );
  }
}

/** Throws ProblemError when the action lacks a field that it needs or has one that it cannot use. */
function checkFields(kind: ActionKind, note: string | null, until: string | null, now: string): void {
  if (kind === 'update' && note === null) throw badField('note', 'is needed: what customers were told');
  if (kind === 'note' && note === null) throw badField('note', 'is needed: the text of the note');
  const takes = ACTIONS[kind].until;
  if (until === null) {
    if (takes === 'must') throw badField('until', `is needed: ${kind} until when, an RFC 3339 time`);
    return;
  }
  if (takes === 'no') throw badField('until', `means nothing for ${kind}; only acknowledge, snooze and update take it`);
  const at = parseInstant(until);
  if (at === undefined) throw badField('until', 'is not an RFC 3339 time such as 2026-01-31T09:00:00Z');
  if (at <= (parseInstant(now) ?? 0)) throw badField('until', `lies in the past; it is ${now} now`);
}

/** The same for what a merge and a split are about. */
function checkParties(kind: ActionKind, into: number | null, alerts: readonly string[] | null): void {
  if (kind === 'merge' && into === null) throw badField('into', 'is needed: the incident that stays');
  if (kind === 'split' && alerts === null) throw badField('alerts', 'is needed: keys of the alerts that go');
  if (kind !== 'merge' && into !== null) throw badField('into', `means nothing for ${kind}; only merge takes it`);
  if (kind !== 'split' && alerts !== null) throw badField('alerts', `means nothing for ${kind}; only split takes it`);
}

function incidentAfter(id: number, outcome: CommandOutcome): IncidentDetailView {
  switch (outcome.kind) {
    case 'done':
      return outcome.incident;
    case 'not_found':
      throw noSuchIncident(id);
    case 'conflict':
      throw new ProblemError('API_CONFLICT', outcome.message);
    default:
      return assertNever(outcome);
  }
}
