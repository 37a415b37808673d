import { Type } from 'typebox';
import type { IncidentDetailView, IncidentView, Page } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { INCIDENT_DETAIL, INCIDENT_FILTERS, INCIDENT_PAGE } from '../incident-schemas.ts';
import { ProblemError, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';

export const incidentParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Incident.id' }),
});

export const noSuchIncident = (id: number): ProblemError =>
  new ProblemError('API_NOT_FOUND', `There is no incident ${id}; /api/v1/incidents lists them.`);

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;

const query = Type.Object(
  {
    state: Type.Optional(oneOf(INCIDENT_FILTERS, 'Only those; active = open or acknowledged. Absent = all.')),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description: 'The next of the page before.' })),
    limit: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT, description: 'Items on a page.' }),
  },
  { additionalProperties: false },
);

export function registerIncidentRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/incidents',
    {
      schema: {
        operationId: 'listIncidents',
        tags: ['incidents'],
        summary: 'Incidents, newest first.',
        querystring: query,
        response: { 200: ref<Page<IncidentView>>(INCIDENT_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<IncidentView> => {
      const { state, cursor, limit } = request.query;
      return queries.incidents({ state: state ?? null, cursor: cursor ?? null, limit });
    },
  );

  app.get(
    '/api/v1/incidents/:id',
    {
      schema: {
        operationId: 'getIncident',
        tags: ['incidents'],
        summary: 'One incident: its alerts with the reason of each, its timeline, what was sent.',
        params: incidentParams,
        response: {
          200: ref<IncidentDetailView>(INCIDENT_DETAIL),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND'),
        },
      },
    },
    (request): IncidentDetailView => {
      const incident = queries.incident(request.params.id);
      if (incident === null) throw noSuchIncident(request.params.id);
      return incident;
    },
  );
}
