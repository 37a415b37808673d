import { type Static, Type } from 'typebox';
import { assertNever } from '../../base/assert.ts';
import { SILENCE_STATES } from '../../model/mute.ts';
import type { Page, SilenceOutcome, SilencePreviewView, SilenceRequest, SilenceView } from '../../model/views.ts';
import { callerOf } from '../caller.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { listQuery, pageInOrder } from '../page-of.ts';
import { badField, ProblemError, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';
import {
  REQUEST_MATCHERS,
  SILENCE,
  SILENCE_PAGE,
  SILENCE_PREVIEW,
  SILENCE_REQUEST,
  toMatchers,
} from '../silence-schemas.ts';

const params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100, description: 'Silence.id' }) });

const query = Type.Object(
  { ...listQuery().properties, state: Type.Optional(oneOf(SILENCE_STATES, 'Only those. Absent = all.')) },
  { additionalProperties: false },
);

const previewBody = Type.Object({ matchers: REQUEST_MATCHERS }, { additionalProperties: false });

export function registerSilenceRoutes(app: Api, { queries, commands }: RouteDeps): void {
  const one = ref<SilenceView>(SILENCE);
  app.get(
    '/api/v1/silences',
    {
      schema: {
        operationId: 'listSilences',
        tags: ['silences'],
        summary: 'Silences: active ones by their end, then those to come, then those that ended in the last 5 days.',
        querystring: query,
        response: { 200: ref<Page<SilenceView>>(SILENCE_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<SilenceView> =>
      pageInOrder(queries.silences({ state: request.query.state ?? null }), ({ id }) => id, request.query),
  );

  app.get(
    '/api/v1/silences/:id',
    {
      schema: {
        operationId: 'getSilence',
        tags: ['silences'],
        summary: 'One silence.',
        params,
        response: { 200: one, ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): SilenceView => {
      const silence = queries.silence(request.params.id);
      if (silence === null) throw noSuchSilence(request.params.id);
      return silence;
    },
  );

  app.post(
    '/api/v1/silences',
    {
      schema: {
        operationId: 'setSilence',
        tags: ['silences'],
        summary: 'Creates a silence, or edits one: other matchers or another start make a new one of an active one.',
        body: SILENCE_REQUEST,
        response: {
          200: one,
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_UNAVAILABLE'),
        },
      },
    },
    (request): SilenceView =>
      silenceAfter(request.body.id ?? '', commands.setSilence(toRequest(request.body, callerOf(request).name))),
  );

  app.post(
    '/api/v1/silences/preview',
    {
      schema: {
        operationId: 'previewSilence',
        tags: ['silences'],
        summary: 'What a silence would mute now, and what of the last 7 days it would have muted.',
        body: previewBody,
        response: { 200: ref<SilencePreviewView>(SILENCE_PREVIEW), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): SilencePreviewView => {
      const preview = queries.previewSilence(toMatchers(request.body.matchers));
      if ('kind' in preview) throw badField(preview.field, preview.message);
      return preview;
    },
  );

  app.delete(
    '/api/v1/silences/:id',
    {
      schema: {
        operationId: 'expireSilence',
        tags: ['silences'],
        summary: 'Ends a silence now. It stays in the list for 5 days.',
        params,
        response: {
          200: one,
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_CONFLICT', 'API_UNAVAILABLE'),
        },
      },
    },
    (request): SilenceView => silenceAfter(request.params.id, commands.expireSilence(request.params.id)),
  );
}

/** `caller` is the name of the token, if there is one. */
export function toRequest(body: Static<typeof SILENCE_REQUEST>, caller: string | null): SilenceRequest {
  return {
    id: body.id?.trim() || null,
    matchers: toMatchers(body.matchers),
    startsAt: body.startsAt ?? null,
    endsAt: body.endsAt,
    createdBy: body.createdBy?.trim() || caller || 'unknown',
    comment: body.comment ?? '',
  };
}

export const noSuchSilence = (id: string): ProblemError =>
  new ProblemError('API_NOT_FOUND', `There is no silence ${id}; /api/v1/silences lists them.`);

export function silenceAfter(id: string, outcome: SilenceOutcome): SilenceView {
  switch (outcome.kind) {
    case 'done':
      return outcome.silence;
    case 'not_found':
      throw noSuchSilence(id);
    case 'conflict':
      throw new ProblemError('API_CONFLICT', outcome.message);
    case 'bad_field':
      throw badField(outcome.field, outcome.message);
    default:
      return assertNever(outcome);
  }
}
