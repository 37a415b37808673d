import { Type } from 'typebox';
import { isoWeekStart } from '../../base/iso-week.ts';
import type { CostView, ScorecardView } from '../../model/scorecard.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { badField, problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';
import { COST, SCORECARD } from '../scorecard-schemas.ts';

const query = Type.Object(
  { week: Type.Optional(Type.String({ description: 'ISO 8601, UTC: `2026-W48`; absent = the last whole week.' })) },
  { additionalProperties: false },
);

export function registerScorecardRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/scorecard',
    {
      schema: {
        operationId: 'getScorecard',
        tags: ['review'],
        summary: 'A week against the traffic standard, and the headroom without resumption.',
        querystring: query,
        response: { 200: ref<ScorecardView>(SCORECARD), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): ScorecardView => queries.scorecard(weekOf(request.query.week)),
  );
  app.get(
    '/api/v1/cost',
    {
      schema: {
        operationId: 'getCost',
        tags: ['review'],
        summary: 'What each service took of handshakes, requests, bytes and connection-hours in a week.',
        querystring: query,
        response: { 200: ref<CostView>(COST), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): CostView => queries.cost(weekOf(request.query.week)),
  );
}

function weekOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (isoWeekStart(text) === undefined) throw badField('week', 'is no ISO week such as 2026-W48');
  return text;
}
