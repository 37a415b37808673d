import { Type } from 'typebox';
import type { WeeklyReview } from '../../model/review.ts';
import type { IncidentDetailView } from '../../model/views.ts';
import { callerOf } from '../caller.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { INCIDENT_DETAIL } from '../incident-schemas.ts';
import { badField, problemResponses } from '../problem.ts';
import { REVIEW } from '../review-schemas.ts';
import { ref } from '../schema-parts.ts';
import { incidentParams, noSuchIncident } from './incidents.ts';

/** The weekly review, and the judgement that it counts. */
export function registerReviewRoutes(app: Api, { queries, commands }: RouteDeps): void {
  app.get(
    '/api/v1/review',
    {
      schema: {
        operationId: 'getReview',
        tags: ['review'],
        summary: 'The review of one week: the same whenever it is asked for.',
        querystring: Type.Object(
          { week: Type.Optional(Type.String({ description: 'ISO 8601: 2026-W48; absent = the last that is over.' })) },
          { additionalProperties: false },
        ),
        response: { 200: ref<WeeklyReview>(REVIEW), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): WeeklyReview => {
      const review = queries.review(request.query.week ?? null);
      if (review === undefined) throw badField('week', 'is no ISO week such as 2026-W48');
      return review;
    },
  );

  app.post(
    '/api/v1/incidents/:id/noise',
    {
      schema: {
        operationId: 'judgeIncident',
        tags: ['incidents'],
        summary:
          'Says whether the pages of an incident were noise, also long after it is over. All judgements are kept.',
        params: incidentParams,
        body: Type.Object(
          {
            noise: Type.Boolean({ default: true, description: 'Nobody had to be told; false takes that back.' }),
            by: Type.Optional(Type.String({ maxLength: 200, description: 'Who; by default the name of the token.' })),
            note: Type.Optional(Type.String({ maxLength: 2000, description: 'Why.' })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: ref<IncidentDetailView>(INCIDENT_DETAIL),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_UNAVAILABLE'),
        },
      },
    },
    (request): IncidentDetailView => {
      const { noise, by, note } = request.body;
      const incident = request.params.id;
      const who = by?.trim() || callerOf(request).name || 'unknown';
      const outcome = commands.judge({ incident, isNoise: noise, by: who, note: note?.trim() || null });
      if (outcome.kind !== 'done') throw noSuchIncident(incident);
      return outcome.incident;
    },
  );
}
