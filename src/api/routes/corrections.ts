import { type Static, Type } from 'typebox';
import { assertNever } from '../../base/assert.ts';
import { CORRECTION_KINDS, WEEKDAYS } from '../../model/correction.ts';
import {
  CORRECTION_STATES,
  type CorrectionDetailView,
  type CorrectionOutcome,
  type CorrectionPreviewView,
  type CorrectionRequest,
  type CorrectionView,
  type Page,
} from '../../model/views.ts';
import { callerOf } from '../caller.ts';
import { CORRECTION_DETAIL, CORRECTION_PAGE, CORRECTION_PREVIEW } from '../correction-schemas.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { badField, ProblemError, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;
const NAMES_MAX = 100;

const params = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Correction.id' }),
});

const query = Type.Object(
  {
    state: Type.Optional(oneOf(CORRECTION_STATES, 'Only those. Absent = all.')),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description: 'The next of the page before.' })),
    limit: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT, description: 'Items on a page.' }),
  },
  { additionalProperties: false },
);

const by = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'Who acts; by default the name of the token, or "unknown".',
  }),
);
const reason = Type.String({ minLength: 1, maxLength: 2000, description: 'Why; needed.' });
const namesOf = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: NAMES_MAX, description }));
const timeOf = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 40, description }));

const recurring = Type.Object(
  {
    weekdays: Type.Array(oneOf(WEEKDAYS, 'mon to sun.'), { minItems: 1, maxItems: 7, description: 'By local date.' }),
    start: Type.String({ maxLength: 5, description: 'Local time of day: 02:00.' }),
    durationSeconds: Type.Number({ description: '1 to 604800.' }),
    zone: Type.String({ maxLength: 100, description: 'IANA time zone: Europe/Berlin.' }),
    firstDate: Type.String({ maxLength: 10, description: 'First local date: 2026-03-01.' }),
    lastDate: timeOf('Last local date; absent = no end.'),
  },
  { additionalProperties: false, description: 'In place of from and to.' },
);

const draft = Type.Object(
  {
    kind: Type.Optional(oneOf(CORRECTION_KINDS, 'maintenance unless given.')),
    reason,
    by,
    slos: namesOf('Ids of SLOs.'),
    matchers: namesOf('Label matchers, such as lb.upstream.zone=a; with slos, both must fit.'),
    from: timeOf('RFC 3339; may lie in the past.'),
    to: timeOf('RFC 3339.'),
    recurring: Type.Optional(recurring),
  },
  { additionalProperties: false },
);

const mark = Type.Object({ by, reason }, { additionalProperties: false });

const CHANGES = {
  end: 'Nothing from now on is left out; what was stays left out.',
  undo: 'Nothing is left out, as if it had never been; it stays in the list.',
} as const;

export function registerCorrectionRoutes(app: Api, { queries, commands }: RouteDeps): void {
  const detail = ref<CorrectionDetailView>(CORRECTION_DETAIL);
  app.get(
    '/api/v1/corrections',
    {
      schema: {
        operationId: 'listCorrections',
        tags: ['corrections'],
        summary: 'Corrections, newest first, those undone included.',
        querystring: query,
        response: { 200: ref<Page<CorrectionView>>(CORRECTION_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<CorrectionView> => {
      const { state, cursor, limit } = request.query;
      return queries.corrections({ state: state ?? null, cursor: cursor ?? null, limit });
    },
  );

  app.get(
    '/api/v1/corrections/:id',
    {
      schema: {
        operationId: 'getCorrection',
        tags: ['corrections'],
        summary: 'One correction: its effect on each group, and what was done to it.',
        params,
        response: { 200: detail, ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND') },
      },
    },
    (request): CorrectionDetailView => {
      const correction = queries.correction(request.params.id);
      if (correction === null) throw noSuchCorrection(request.params.id);
      return correction;
    },
  );

  app.post(
    '/api/v1/corrections',
    {
      schema: {
        operationId: 'createCorrection',
        tags: ['corrections'],
        summary: 'Leaves a time out of budgets from the next tick on: once, or again and again.',
        body: draft,
        response: { 200: detail, ...problemResponses('API_BAD_REQUEST', 'API_UNAVAILABLE') },
      },
    },
    (request): CorrectionDetailView => {
      return correctionAfter(0, commands.correct(requestOf(request.body, callerOf(request).name)));
    },
  );

  app.post(
    '/api/v1/corrections/preview',
    {
      schema: {
        operationId: 'previewCorrection',
        tags: ['corrections'],
        summary: 'What a correction would do, without making it.',
        body: draft,
        response: { 200: ref<CorrectionPreviewView>(CORRECTION_PREVIEW), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): CorrectionPreviewView => {
      const preview = queries.previewCorrection(requestOf(request.body, callerOf(request).name));
      if ('kind' in preview) throw badField(preview.field, preview.message);
      return preview;
    },
  );

  for (const kind of Object.keys(CHANGES) as (keyof typeof CHANGES)[]) {
    app.post(
      `/api/v1/corrections/:id/${kind}`,
      {
        schema: {
          operationId: `${kind}Correction`,
          tags: ['corrections'],
          summary: CHANGES[kind],
          params,
          body: mark,
          response: {
            200: detail,
            ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_CONFLICT', 'API_UNAVAILABLE'),
          },
        },
      },
      (request): CorrectionDetailView => {
        const { id } = request.params;
        const why = request.body.reason.trim();
        if (why === '') throw badField('reason', 'is needed: why');
        const who = authorOf(request.body.by, callerOf(request).name);
        return correctionAfter(id, commands.changeCorrection(id, { kind, by: who, reason: why }));
      },
    );
  }
}

function requestOf(body: Static<typeof draft>, caller: string | null): CorrectionRequest {
  const { kind, slos, matchers, from, to, recurring: given, reason: why, by: who } = body;
  return {
    kind: kind ?? 'maintenance',
    reason: why,
    by: authorOf(who, caller),
    slos: slos ?? [],
    matchers: matchers ?? [],
    from: from ?? null,
    to: to ?? null,
    recurring: given === undefined ? null : { ...given, lastDate: given.lastDate ?? null },
  };
}

const authorOf = (given: string | null | undefined, caller: string | null): string =>
  given?.trim() || caller || 'unknown';

const noSuchCorrection = (id: number): ProblemError =>
  new ProblemError('API_NOT_FOUND', `There is no correction ${id}; /api/v1/corrections lists them.`);

function correctionAfter(id: number, outcome: CorrectionOutcome): CorrectionDetailView {
  switch (outcome.kind) {
    case 'done':
      return outcome.correction;
    case 'not_found':
      throw noSuchCorrection(id);
    case 'conflict':
      throw new ProblemError('API_CONFLICT', outcome.message);
    case 'bad_field':
      throw badField(outcome.field, outcome.message);
    default:
      return assertNever(outcome);
  }
}
