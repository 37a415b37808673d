import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { AccessToken } from '../config/config.ts';
import { createAccessControl } from './access.ts';
import { CALLER } from './caller.ts';
import type { Api, MetricsText, RouteDeps } from './deps.ts';
import { answerFailure, answerUnknownRoute } from './failures.ts';
import { createGuard } from './guard.ts';
import { createIncidentRunbook, type IncidentRunbook } from './incident-runbook.ts';
import { parseJsonBody } from './json-body.ts';
import { prepareOpenapi, registerOpenapiRoute } from './openapi.ts';
import { createRouteTable } from './route-table.ts';
import { registerAlertmanagerRoutes } from './routes/alertmanager.ts';
import { registerAlertRoutes } from './routes/alerts.ts';
import { registerCompareRoutes } from './routes/compare.ts';
import { registerConfigVersionRoutes } from './routes/config-versions.ts';
import { registerCorrectionRoutes } from './routes/corrections.ts';
import { type EventLimits, registerEventRoutes } from './routes/events.ts';
import { registerFleetRoutes } from './routes/fleet.ts';
import { registerFollowUpRoutes } from './routes/follow-ups.ts';
import { registerForeignAlertRoutes } from './routes/foreign-alerts.ts';
import { registerHealthRoutes } from './routes/health.ts';
import { registerHistoryRoutes } from './routes/history.ts';
import { registerIncidentActionRoutes } from './routes/incident-actions.ts';
import { registerIncidentRoutes } from './routes/incidents.ts';
import { registerMetricsRoutes } from './routes/metrics.ts';
import { registerRunbookRoutes } from './routes/runbooks.ts';
import { registerSilenceRoutes } from './routes/silences.ts';
import { registerSloRoutes } from './routes/slos.ts';
import { registerTrendRoutes } from './routes/trends.ts';
import { plainRunbookPage, type RunbookPage } from './runbook-page.ts';

export interface ApiServerOptions extends RouteDeps {
  readonly metrics: MetricsText;
  readonly runtimeMetrics?: MetricsText;
  /** Tokens of slowburn.yaml. Without one of role read or operate nothing is asked for. */
  readonly tokens: readonly AccessToken[];
  readonly logger: Logger | false;
  readonly version: string;
  /** Where people reach the service, when not by its address: its host name is then one of ours. */
  readonly externalUrl?: string | null;
  /** Base of what commands in runbooks ask, without a trailing slash; externalUrl without it. */
  readonly baseUrl?: () => string;
  /** Base of dashboard links in runbooks, without a trailing slash. */
  readonly grafanaUrl?: string | null;
  /** Of `/api/v1/events`. */
  readonly eventLimits?: Partial<EventLimits>;
  /** Adds the pages. They see every hook of the API but their parsers and handlers stay their own. */
  readonly registerPages?: (app: FastifyInstance, runbook: IncidentRunbook) => void | Promise<void>;
  /** Frames a runbook; plain markup without it. */
  readonly runbookPage?: (runbook: RunbookPage) => string;
}

const BODY_BYTES_MAX = 1_048_576;
const REQUEST_TIMEOUT_MS = 30_000;
/** The longest part of a path that a route takes: an SLO id, encoded. */
const PATH_PART_LENGTH_MAX = 2048;

/**
 * The HTTP server of API, pages, metrics and health (design section 6), ready to listen. Failures are problem
 * details; what a route returns is written by its schema.
 */
export async function createApiServer(options: ApiServerOptions): Promise<FastifyInstance> {
  const app = createFastify(options.logger);
  const routes = createRouteTable();
  const guarded = options.tokens.some((token) => token.role !== 'push');
  const trustedHosts = guarded ? null : hostsOf(options.externalUrl ?? null);

  app.decorateRequest(CALLER, null);
  app.addHook('onRoute', (route) => routes.add(route.method, route.url));
  app.addHook('onRequest', createGuard(createAccessControl(options.tokens), trustedHosts));
  app.setErrorHandler(answerFailure);
  app.setNotFoundHandler((request, reply) => answerUnknownRoute(routes, request, reply));
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parseJsonBody);

  await prepareOpenapi(app, options.version);
  registerHealthRoutes(app, options);
  registerSloRoutes(app, options);
  registerHistoryRoutes(app, options);
  registerAlertRoutes(app, options);
  registerForeignAlertRoutes(app, options);
  registerIncidentRoutes(app, options);
  registerIncidentActionRoutes(app, options);
  registerFollowUpRoutes(app, options);
  registerEventRoutes(app, options, options.eventLimits);
  registerSilenceRoutes(app, options);
  registerAlertmanagerRoutes(app, options);
  registerCorrectionRoutes(app, options);
  registerFleetRoutes(app, options);
  registerConfigVersionRoutes(app, options);
  registerCompareRoutes(app, options);
  registerTrendRoutes(app, options);
  registerMetricsRoutes(app, options);
  const { queries, grafanaUrl = null } = options;
  const baseUrl = options.baseUrl ?? (() => options.externalUrl ?? null);
  registerRunbookRoutes(app, { queries, page: options.runbookPage ?? plainRunbookPage, baseUrl, grafanaUrl });
  registerOpenapiRoute(app);
  const { registerPages } = options;
  if (registerPages !== undefined) {
    await app.register(async (pages) => {
      await registerPages(pages as unknown as FastifyInstance, createIncidentRunbook(queries, baseUrl, grafanaUrl));
    });
  }
  await app.ready();
  return app as unknown as FastifyInstance;
}

function createFastify(logger: Logger | false): Api {
  return Fastify({
    ...(logger === false ? { logger: false } : { loggerInstance: logger as FastifyBaseLogger }),
    // A line per request would drown what matters; failures are logged where they are answered.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: PATH_PART_LENGTH_MAX },
    // A field that the schema does not know is refused by name, not dropped.
    ajv: { customOptions: { removeAdditional: false } },
    frameworkErrors: answerFailure,
  }) as unknown as Api;
}

function hostsOf(externalUrl: string | null): readonly string[] {
  return externalUrl === null ? [] : [new URL(externalUrl).hostname.toLowerCase()];
}
