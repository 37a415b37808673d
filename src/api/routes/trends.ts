import { Type } from 'typebox';
import { parseInstant } from '../../base/instant.ts';
import { MEASURE_NAMES } from '../../model/measure.ts';
import type { TrendSeriesView, TrendsView } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { badField, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';
import { TREND_SERIES, TRENDS } from '../trend-schemas.ts';

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
  app.get(
    '/api/v1/trends/series',
    {
      schema: {
        operationId: 'getTrendSeries',
        tags: ['review'],
        summary: 'One measure of all its subjects, day by day over weeks.',
        querystring: Type.Object(
          { measure: oneOf(MEASURE_NAMES, 'What is told; required.'), ...query.properties },
          { additionalProperties: false },
        ),
        response: { 200: ref<TrendSeriesView>(TREND_SERIES), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): TrendSeriesView => {
      const { measure, until = null, weeks } = request.query;
      if (until !== null && parseInstant(until) === undefined) throw badField('until', 'is no RFC 3339 instant');
      return queries.trendSeries({ measure, until, weeks });
    },
  );
}
