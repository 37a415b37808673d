import { Type } from 'typebox';
import { assertNever } from '../../base/assert.ts';
import { timelineMarkdown } from '../../model/timeline-export.ts';
import {
  FOLLOW_UP_STATES,
  type FollowUpOutcome,
  type FollowUpView,
  type IncidentDetailView,
  type Page,
} from '../../model/views.ts';
import { callerOf } from '../caller.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { FOLLOW_UP, FOLLOW_UP_PAGE, INCIDENT_DETAIL } from '../incident-schemas.ts';
import { listQuery, pageOf } from '../page-of.ts';
import { badField, ProblemError, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';
import { incidentParams, noSuchIncident } from './incidents.ts';

const BY = Type.Optional(Type.String({ maxLength: 200, description: 'Who acts; by default the name of the token.' }));
const NUMBER_WIDTH = 15;

/** Actions that follow from incidents, and the record of an incident as one text. */
export function registerFollowUpRoutes(app: Api, { queries, commands }: RouteDeps): void {
  app.get(
    '/api/v1/incidents/:id/timeline',
    {
      schema: {
        operationId: 'exportTimeline',
        tags: ['incidents'],
        summary: 'The record of an incident, for a postmortem: Markdown, or the incident as JSON.',
        params: incidentParams,
        querystring: Type.Object(
          { format: Type.Optional(oneOf(['json', 'md'], 'json unless given.')) },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'The record.',
            content: {
              'application/json': { schema: ref<IncidentDetailView>(INCIDENT_DETAIL) },
              'text/markdown': { schema: Type.String() },
            },
          },
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND'),
        },
      },
    },
    async (request, reply): Promise<IncidentDetailView | string> => {
      const incident = queries.incident(request.params.id);
      if (incident === null) throw noSuchIncident(request.params.id);
      reply.type(request.query.format === 'md' ? 'text/markdown; charset=utf-8' : 'application/json; charset=utf-8');
      return request.query.format === 'md' ? timelineMarkdown(incident) : incident;
    },
  );

  app.get(
    '/api/v1/actions',
    {
      schema: {
        operationId: 'listActions',
        tags: ['incidents'],
        summary: 'Actions that follow from incidents, those that are due first.',
        querystring: Type.Object(
          {
            ...listQuery().properties,
            state: Type.Optional(oneOf(FOLLOW_UP_STATES, 'Only those; open = overdue ones too.')),
          },
          { additionalProperties: false },
        ),
        response: { 200: ref<Page<FollowUpView>>(FOLLOW_UP_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<FollowUpView> =>
      pageOf(
        queries.followUps({ state: request.query.state ?? null, incident: null }),
        ({ due, id }) => `${due} ${String(id).padStart(NUMBER_WIDTH, '0')}`,
        request.query,
      ),
  );

  app.post(
    '/api/v1/incidents/:id/actions',
    {
      schema: {
        operationId: 'addAction',
        tags: ['incidents'],
        summary: 'Writes down something to do, with an owner and a date.',
        params: incidentParams,
        body: Type.Object(
          {
            title: Type.String({ description: 'What is to be done.' }),
            owner: Type.String({ maxLength: 200, description: 'By whom.' }),
            due: Type.String({ maxLength: 10, description: 'By which day, UTC: 2026-03-15.' }),
            by: BY,
          },
          { additionalProperties: false },
        ),
        response: {
          200: ref<FollowUpView>(FOLLOW_UP),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_UNAVAILABLE'),
        },
      },
    },
    (request): FollowUpView => {
      const { title, owner, due, by } = request.body;
      const { id } = request.params;
      const who = by?.trim() || callerOf(request).name || 'unknown';
      return followUpAfter(id, commands.addFollowUp({ incident: id, title, owner, due, by: who }), 'incident');
    },
  );

  for (const [verb, isDone] of [
    ['done', true],
    ['reopen', false],
  ] as const) {
    app.post(
      `/api/v1/actions/:id/${verb}`,
      {
        schema: {
          operationId: `${verb}Action`,
          tags: ['incidents'],
          summary: isDone ? 'It is done.' : 'It is not done after all.',
          params: Type.Object({ id: Type.Integer({ minimum: 1, description: 'Action.id' }) }),
          body: Type.Unsafe<{ by?: string } | null>({
            type: ['object', 'null'],
            properties: { by: BY },
            additionalProperties: false,
          }),
          response: {
            200: ref<FollowUpView>(FOLLOW_UP),
            ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_CONFLICT', 'API_UNAVAILABLE'),
          },
        },
      },
      (request): FollowUpView => {
        const by = request.body?.by?.trim() || callerOf(request).name || 'unknown';
        return followUpAfter(request.params.id, commands.markFollowUp(request.params.id, isDone, by), 'action');
      },
    );
  }
}

function followUpAfter(id: number, outcome: FollowUpOutcome, of: 'incident' | 'action'): FollowUpView {
  switch (outcome.kind) {
    case 'done':
      return outcome.followUp;
    case 'not_found':
      if (of === 'incident') throw noSuchIncident(id);
      throw new ProblemError('API_NOT_FOUND', `There is no action ${id}; /api/v1/actions lists them.`);
    case 'conflict':
      throw new ProblemError('API_CONFLICT', outcome.message);
    case 'bad_field':
      throw badField(outcome.field, outcome.message);
    default:
      return assertNever(outcome);
  }
}
