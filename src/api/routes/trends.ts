import { Type } from 'typebox';
import { parseInstant } from '../../base/instant.ts';
import type { TrendsView } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { badField, problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';
import { TRENDS } from '../trend-schemas.ts';

/** Two weeks are two points; more than hours are kept for makes no sense. */
const WEEKS = { minimum: 3, maximum: 57, default: 5 } as const;

const query = Type.Object(
  {
    until: Type.Optional(Type.String({ description: 'RFC 3339; absent = now. Rounded down to the hour.' })),
    weeks: Type.Integer({ ...WEEKS, description: 'How far back.' }),
  },
  { additionalProperties: false },
);

export function registerTrendRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/trends',
    {
      schema: {
        operationId: 'listTrends',
        tags: ['review'],
        summary: 'What has slowly become worse, too little to page or ticket anybody.',
        querystring: query,
        response: { 200: ref<TrendsView>(TRENDS), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): TrendsView => {
      const { until = null, weeks } = request.query;
      if (until !== null && parseInstant(until) === undefined) throw badField('until', 'is no RFC 3339 instant');
      return queries.trends(until, weeks);
    },
  );
}
