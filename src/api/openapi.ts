import swagger from '@fastify/swagger';
import { Type } from 'typebox';
import {
  ALERT_STATUS,
  ALERTMANAGER_STATUS,
  GETTABLE_ALERT,
  NOTHING,
  RECEIVER_NAME,
  SILENCE_ID,
} from './alertmanager-schemas.ts';
import {
  COMPARISON,
  COMPARISON_DELTA,
  COMPARISON_FAULT,
  COMPARISON_SAMPLE,
  DROPS,
  EXPOSURE,
} from './compare-schemas.ts';
import { RUN_VERSION, VERSION_DELTA, VERSION_HEALTH, VERSION_PAGE } from './config-schemas.ts';
import {
  AUDIT_ENTRY,
  CORRECTION,
  CORRECTION_DETAIL,
  CORRECTION_EFFECT,
  CORRECTION_MARK,
  CORRECTION_PAGE,
  CORRECTION_PREVIEW,
  RECURRENCE,
  TIME_RANGE,
} from './correction-schemas.ts';
import type { Api } from './deps.ts';
import { HISTORY_SCHEMAS } from './history-schemas.ts';
import {
  ALERT,
  ALERT_PAGE,
  ATTACHMENT,
  EVIDENCE,
  FOLLOW_UP,
  FOLLOW_UP_PAGE,
  HOOK_CALL,
  INCIDENT,
  INCIDENT_DETAIL,
  INCIDENT_PAGE,
  MEMBER,
  MUTE,
  SEND,
  TIMELINE_ENTRY,
} from './incident-schemas.ts';
import { PROBLEM } from './problem.ts';
import { ALERTS_RECEIVED, REFUSED_ALERT } from './routes/foreign-alerts.ts';
import { CHECK, HEALTH } from './routes/health.ts';
import {
  GETTABLE_SILENCE,
  PAST_ALERT,
  SILENCE,
  SILENCE_MATCHER,
  SILENCE_PAGE,
  SILENCE_PREVIEW,
  SILENCE_STATUS,
} from './silence-schemas.ts';
import {
  BALANCER,
  BALANCER_PAGE,
  BOUNDS_AROUND,
  BRACKET,
  EXHAUSTION,
  GROUP,
  LEFT_OUT,
  SLICE_COVERAGE,
  SLO,
  SLO_MEMBER,
  SLO_PAGE,
  STAGE_FIDELITIES,
} from './slo-schemas.ts';
import { TREND, TREND_ROW, TREND_SERIES, TRENDS } from './trend-schemas.ts';

const SCHEMAS = [
  [TREND, TRENDS, TREND_ROW, TREND_SERIES],
  [EXHAUSTION, BRACKET, SLICE_COVERAGE, SLO_MEMBER, LEFT_OUT, GROUP, SLO, SLO_PAGE],
  [STAGE_FIDELITIES, BOUNDS_AROUND, BALANCER, BALANCER_PAGE],
  [RUN_VERSION, VERSION_PAGE, VERSION_DELTA, VERSION_HEALTH],
  [COMPARISON_DELTA, COMPARISON_SAMPLE, COMPARISON_FAULT, EXPOSURE, DROPS, COMPARISON],
  [EVIDENCE, MUTE, ALERT, ALERT_PAGE, INCIDENT, INCIDENT_PAGE, MEMBER, TIMELINE_ENTRY, SEND, INCIDENT_DETAIL],
  [ATTACHMENT, HOOK_CALL, FOLLOW_UP, FOLLOW_UP_PAGE],
  [RECURRENCE, CORRECTION_MARK, TIME_RANGE, CORRECTION, CORRECTION_EFFECT, AUDIT_ENTRY, CORRECTION_DETAIL],
  [CORRECTION_PREVIEW, CORRECTION_PAGE],
  [SILENCE_MATCHER, SILENCE_STATUS, SILENCE, SILENCE_PAGE, PAST_ALERT, SILENCE_PREVIEW, GETTABLE_SILENCE],
  [ALERT_STATUS, RECEIVER_NAME, GETTABLE_ALERT, SILENCE_ID, ALERTMANAGER_STATUS, NOTHING],
  HISTORY_SCHEMAS,
  [REFUSED_ALERT, ALERTS_RECEIVED, CHECK, HEALTH, PROBLEM],
].flat();

const TAGS = [
  { name: 'slos', description: 'Objectives, budgets, burn.' },
  { name: 'history', description: 'Stages, traffic, TLS and skew over time.' },
  { name: 'alerts', description: 'What fires now.' },
  { name: 'incidents', description: 'Related alerts as one thing to act on.' },
  { name: 'silences', description: 'Times in which nobody is told of some alerts.' },
  { name: 'alertmanager', description: "What clients of Alertmanager's API v2 use, over the same." },
  { name: 'corrections', description: 'Times that do not count: planned work, accidents of others, bad data.' },
  { name: 'fleet', description: 'The balancers that push.' },
  { name: 'config versions', description: 'Config versions, and whether one is worse than what it replaced.' },
  { name: 'review', description: 'What the weekly review reads.' },
  { name: 'runbooks', description: 'What to do.' },
  { name: 'health', description: 'For orchestrators.' },
  { name: 'metrics', description: 'For Prometheus.' },
  { name: 'document', description: 'This document.' },
];

/**
 * Adds the named schemas and the plugin that collects the document; before any route. Routes without a tag stay out
 * of it.
 */
export async function prepareOpenapi(app: Api, version: string): Promise<void> {
  for (const schema of SCHEMAS) app.addSchema(schema);
  await app.register(swagger, {
    hideUntagged: true,
    refResolver: { buildLocalReference: (schema) => String(schema['$id']) },
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'slowburn',
        version,
        description:
          'Error budgets, alerts and incidents of a fleet of load balancers. JSON in camelCase; times RFC 3339 UTC, ' +
          'durations in seconds, ratios 0 to 1. Failures are problem details (RFC 9457) with a stable code.',
      },
      tags: TAGS,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A token of slowburn.yaml; POST needs role operate, alerts role push.',
          },
          basic: { type: 'http', scheme: 'basic', description: 'Any name, the token as password.' },
        },
      },
      // The empty entry: without tokens in the configuration nothing is asked for.
      security: [{ bearer: [] }, { basic: [] }, {}],
    },
  });
}

export function registerOpenapiRoute(app: Api): void {
  app.get(
    '/api/openapi.json',
    {
      schema: {
        operationId: 'getOpenapi',
        tags: ['document'],
        summary: 'This API as an OpenAPI 3.1 document.',
        response: {
          200: Type.Unsafe<object>({ description: 'The document.', type: 'object', additionalProperties: true }),
        },
      },
    },
    (): object => {
      const document = app.swagger() as OpenApiPart;
      for (const path of Object.values(document.paths)) {
        for (const operation of Object.values(path)) relaxBody(operation);
      }
      return document;
    },
  );
}

/** What is read and changed here of the document; the rest of it passes through. */
interface OpenApiPart {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly requestBody?: {
    required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: { readonly type: string | readonly string[] } }>>;
  };
}

/** The plugin calls every body required; one that may be null may also be left out. */
function relaxBody({ requestBody }: Operation): void {
  if (requestBody === undefined) return;
  const bodies = Object.values(requestBody.content);
  requestBody.required = !bodies.some(({ schema }) => Array.isArray(schema.type) && schema.type.includes('null'));
}
