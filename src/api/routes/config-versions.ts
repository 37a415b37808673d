import { Type } from 'typebox';
import type { ConfigHealthView, ConfigVersionView, Page } from '../../model/views.ts';
import { VERSION_HEALTH, VERSION_PAGE } from '../config-schemas.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { listQuery, pageOf } from '../page-of.ts';
import { ProblemError, problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';

export function registerConfigVersionRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/config-versions',
    {
      schema: {
        operationId: 'listConfigVersions',
        tags: ['config versions'],
        summary: 'Config versions that balancers run now, in the order of kinds, then versions.',
        querystring: listQuery(),
        response: { 200: ref<Page<ConfigVersionView>>(VERSION_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<ConfigVersionView> =>
      pageOf(queries.configVersions(), ({ kind, version }) => JSON.stringify([kind, version]), request.query),
  );

  app.get(
    '/api/v1/config-versions/:version/health',
    {
      schema: {
        operationId: 'getConfigHealth',
        tags: ['config versions'],
        summary: 'Whether a config version is worse than what it replaced, and what that rests on.',
        params: Type.Object({ version: Type.String({ description: 'ConfigVersion.version' }) }),
        querystring: Type.Object(
          {
            kind: Type.Optional(
              Type.String({ description: 'ConfigVersion.kind, where several kinds share a version.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: ref<ConfigHealthView>(VERSION_HEALTH),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND'),
        },
      },
    },
    (request): ConfigHealthView => {
      const { version } = request.params;
      const health = queries.configHealth(version, request.query.kind ?? null);
      if (health === null) {
        const hint =
          'no balancer that is heard runs it, or it replaced no other; /api/v1/config-versions lists those that run';
        throw new ProblemError('API_NOT_FOUND', `Config version "${version}" cannot be compared: ${hint}.`);
      }
      return health;
    },
  );
}
