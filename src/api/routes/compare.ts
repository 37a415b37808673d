import { Type } from 'typebox';
import { parseDuration } from '../../base/duration.ts';
import type { ComparisonAsked, ComparisonView } from '../../model/views.ts';
import { COMPARED_ATTRIBUTES, COMPARISON } from '../compare-schemas.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { badField, ProblemError, problemResponses } from '../problem.ts';
import { oneOf, ref } from '../schema-parts.ts';

const WINDOW_MIN_SECONDS = 60;
const WINDOW_MAX_SECONDS = 21_600;

const query = Type.Object(
  {
    attribute: oneOf(COMPARED_ATTRIBUTES, 'What tells the cohorts apart.'),
    a: Type.String({ minLength: 1, maxLength: 500, description: 'Its value on the side that is judged.' }),
    b: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'On the other side; absent = any other.' }),
    ),
    kind: Type.Optional(Type.String({ description: 'Of configVersion: where several kinds share a version.' })),
    cluster: Type.Optional(
      Type.String({ minLength: 1, description: 'Of zone: the hosts of this cluster by their zones.' }),
    ),
    shadow: Type.Optional(Type.Boolean({ description: 'Whether a gets copies; absent = as lb.mirror.requests says.' })),
    window: Type.Optional(Type.String({ description: '1m to 6h; absent = since the version began to run, else 1h.' })),
    fault: Type.Number({
      exclusiveMinimum: 0,
      exclusiveMaximum: 1,
      default: 0.001,
      description: 'Rate of a fault that must not be missed.',
    }),
    confidence: Type.Number({ minimum: 0.5, maximum: 0.9999, default: 0.95, description: 'With this confidence.' }),
  },
  { additionalProperties: false },
);

export function registerCompareRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/compare',
    {
      schema: {
        operationId: 'compareCohorts',
        tags: ['config versions'],
        summary: 'Two cohorts beside each other: canary and rest, shadow and production, zone and zone.',
        querystring: query,
        response: {
          200: ref<ComparisonView>(COMPARISON),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND'),
        },
      },
    },
    (request): ComparisonView => {
      const {
        attribute,
        a,
        b = null,
        kind = null,
        cluster = null,
        shadow = null,
        window,
        fault,
        confidence,
      } = request.query;
      checkFit({ attribute, a, b, cluster, kind });
      const windowSeconds = window === undefined ? null : readWindow(window);
      const found = queries.compare({
        attribute,
        a,
        b,
        configKind: kind,
        cluster,
        shadow,
        windowSeconds,
        fault,
        confidence,
      });
      if ('missing' in found) throw new ProblemError('API_NOT_FOUND', `There is nothing to compare: ${found.missing}.`);
      return found;
    },
  );
}

/** Throws ProblemError when a parameter means nothing for the attribute. */
function checkFit(
  asked: Pick<ComparisonAsked, 'attribute' | 'a' | 'b' | 'cluster'> & { readonly kind: string | null },
): void {
  const { attribute, a, b, cluster, kind } = asked;
  if (cluster !== null && attribute !== 'zone') {
    throw badField(
      'cluster',
      `goes with attribute=zone; what one ${attribute} sends to one cluster is not counted apart`,
    );
  }
  if (kind !== null && attribute !== 'configVersion') throw badField('kind', 'goes with attribute=configVersion');
  if (a === b) throw badField('b', 'is the same as a');
}

function readWindow(text: string): number {
  const duration = parseDuration(text);
  const seconds = (duration ?? 0) / 1000;
  if (seconds >= WINDOW_MIN_SECONDS && seconds <= WINDOW_MAX_SECONDS) return seconds;
  throw badField('window', 'is no duration from 1m to 6h, such as 30m');
}
