import { Type } from 'typebox';
import { parseDuration } from '../../base/duration.ts';
import { parseInstant } from '../../base/instant.ts';
import {
  RED_BY,
  type RedView,
  SKEW_BY,
  type SkewView,
  type SloHistoryView,
  type StagesView,
  type TlsView,
} from '../../model/history-views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { RED, SKEW, SLO_HISTORY, STAGES_VIEW, TLS } from '../history-schemas.ts';
import { badField, ProblemError, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';

/** What detectors read is kept for 8 days. */
const WINDOW_MAX_SECONDS = 691_200;
const WINDOW_MIN_SECONDS = 10;

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 2000, description }));
const window = Type.String({ default: '1h', description: 'How far back: 10s to 8d.' });
const from = name('RFC 3339; as far back as is kept.');
const to = name('RFC 3339; absent = now.');

export function registerHistoryRoutes(app: Api, { queries }: RouteDeps): void {
  registerHistory(app, queries);
  app.get(
    '/api/v1/stages',
    {
      schema: {
        operationId: 'getStages',
        tags: ['history'],
        summary: 'The five stages of requests over time, by zone and balancer, and how faithfully they are told.',
        querystring: Type.Object(
          {
            cluster: name('Only requests of this cluster, and stages told without one.'),
            zone: name('Only balancers of this zone: the last 3 h.'),
            balancer: name('Only this balancer: the last 3 h.'),
            from,
            to,
          },
          { additionalProperties: false },
        ),
        response: { 200: ref<StagesView>(STAGES_VIEW), ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): StagesView => {
      const { cluster = null, zone = null, balancer = null } = request.query;
      return heard(queries.stages({ cluster, zone, balancer, ...spanOf(request.query) }));
    },
  );
  app.get(
    '/api/v1/red',
    {
      schema: {
        operationId: 'getRed',
        tags: ['history'],
        summary: 'Requests, errors and durations.',
        querystring: Type.Object(
          { by: oneOf(RED_BY, 'What a row is; required.'), window },
          { additionalProperties: false },
        ),
        response: { 200: ref<RedView>(RED), ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): RedView => heard(queries.red({ by: request.query.by, seconds: secondsOf(request.query.window) })),
  );
  app.get(
    '/api/v1/tls',
    {
      schema: {
        operationId: 'getTls',
        tags: ['history'],
        summary: 'Handshakes, their resumption, and certificates.',
        querystring: Type.Object({ window }, { additionalProperties: false }),
        response: { 200: ref<TlsView>(TLS), ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): TlsView => heard(queries.tls({ seconds: secondsOf(request.query.window) })),
  );
  app.get(
    '/api/v1/skew',
    {
      schema: {
        operationId: 'getSkew',
        tags: ['history'],
        summary: 'Who carries more than its share: now, by step, and by day.',
        querystring: Type.Object(
          {
            by: oneOf(SKEW_BY, 'What is compared; required.'),
            cluster: name('Whose hosts or zones; absent = the first.'),
            window,
            to,
          },
          { additionalProperties: false },
        ),
        response: { 200: ref<SkewView>(SKEW), ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): SkewView => {
      const { by, cluster = null, window: back } = request.query;
      const { to: until } = spanOf(request.query);
      return heard(queries.skew({ by, cluster, seconds: secondsOf(back), until }));
    },
  );
}

function registerHistory(app: Api, queries: RouteDeps['queries']): void {
  app.get(
    '/api/v1/slos/:id/history',
    {
      schema: {
        operationId: 'getSloHistory',
        tags: ['slos'],
        summary: "One group's budget over its window, the tiers beside what burns, and where it was spent.",
        params: Type.Object({ id: Type.String({ description: 'Slo.id' }) }),
        querystring: Type.Object(
          {
            group: name(
              'Values of its labels in their order, each encoded, joined by `/`; absent = the lowest budget.',
            ),
            from,
            to,
            step: name('Width of a step such as 1h; 5m at least.'),
          },
          { additionalProperties: false },
        ),
        response: { 200: ref<SloHistoryView>(SLO_HISTORY), ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): SloHistoryView => {
      const { group = null, step } = request.query;
      const stepMs = step === undefined ? null : parseDuration(step);
      if (stepMs === undefined || stepMs === 0) throw badField('step', 'is no duration such as 1h');
      const found = queries.sloHistory({
        slo: request.params.id,
        group,
        ...spanOf(request.query),
        stepSeconds: stepMs === null ? null : stepMs / 1000,
      });
      if (found === null)
        throw new ProblemError('API_NOT_FOUND', `SLO "${request.params.id}" is not there, or has no such group.`);
      return found;
    },
  );
}

function spanOf(query: { readonly from?: string; readonly to?: string }) {
  for (const field of ['from', 'to'] as const) {
    const given = query[field];
    if (given !== undefined && parseInstant(given) === undefined) throw badField(field, 'is no RFC 3339 time');
  }
  return { from: query.from ?? null, to: query.to ?? null };
}

function secondsOf(text: string): number {
  const seconds = (parseDuration(text) ?? 0) / 1000;
  if (seconds >= WINDOW_MIN_SECONDS && seconds <= WINDOW_MAX_SECONDS) return seconds;
  throw badField('window', 'is no duration from 10s to 8d, such as 1h');
}

function heard<T>(view: T | null): T {
  if (view === null) throw new ProblemError('API_NOT_FOUND', 'No balancer has pushed yet.');
  return view;
}
