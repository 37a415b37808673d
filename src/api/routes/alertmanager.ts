import { Type } from 'typebox';
import { fingerprintOf } from '../../model/fingerprint.ts';
import type { AlertView, LabelObject, Queries, SilenceView } from '../../model/views.ts';
import { fitsLabels, fitsSilence, type GettableAlert, readFilters } from '../alertmanager.ts';
import { ALERTMANAGER_STATUS, GETTABLE_ALERT, NOTHING, RECEIVER_NAME, SILENCE_ID } from '../alertmanager-schemas.ts';
import { callerOf } from '../caller.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { badField, problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';
import { GETTABLE_SILENCE, SILENCE_REQUEST } from '../silence-schemas.ts';
import { noSuchSilence, silenceAfter, toRequest } from './silences.ts';

/** Told to clients as the time until which an alert counts without news of it; Alertmanager's resolve timeout. */
const ENDS_AFTER_MS = 300_000;

type GettableSilence = Omit<SilenceView, 'alerts'>;

const filter = Type.Optional(
  Type.Unsafe<string | string[]>({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    description: 'Matchers such as team="edge"; all must match.',
  }),
);
const chosen = (description: string) => Type.Boolean({ default: true, description });
const params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the silence.' }) });

/** What amtool, Karma and Prometheus use of Alertmanager's API v2, over our own silences and alerts. */
export function registerAlertmanagerRoutes(app: Api, deps: RouteDeps & { readonly version: string }): void {
  const startedAt = deps.queries.now();
  const { queries } = deps;
  registerSilences(app, deps);
  app.get(
    '/api/v2/alerts',
    {
      schema: {
        operationId: 'getAlerts',
        tags: ['alertmanager'],
        summary: 'Every firing alert, with what mutes it.',
        querystring: Type.Object({
          active: chosen('With those that people are told of.'),
          silenced: chosen('With those that a silence mutes.'),
          inhibited: chosen('With those that an alert inhibits.'),
          unprocessed: chosen('Nothing is ever unprocessed.'),
          filter,
          receiver: Type.Optional(Type.String({ maxLength: 1000, description: 'Pattern; anchored.' })),
        }),
        response: {
          200: Type.Array(ref<GettableAlert>(GETTABLE_ALERT), { description: 'Alerts.' }),
          ...problemResponses('API_BAD_REQUEST'),
        },
      },
    },
    (request): GettableAlert[] => {
      const { active, silenced, inhibited, receiver } = request.query;
      const filters = readFilters(request.query.filter);
      const pattern = receiver === undefined ? null : patternOf(receiver);
      return gettableAlerts(queries).filter(
        ({ labels, status, receivers }) =>
          (active || status.state !== 'active') &&
          (silenced || status.silencedBy.length === 0) &&
          (inhibited || status.inhibitedBy.length === 0) &&
          (pattern === null || receivers.some(({ name }) => pattern.test(name))) &&
          fitsLabels(filters, labels),
      );
    },
  );
  app.get(
    '/api/v2/receivers',
    {
      schema: {
        operationId: 'getReceivers',
        tags: ['alertmanager'],
        summary: 'Every receiver.',
        response: {
          200: Type.Array(ref<{ name: string }>(RECEIVER_NAME), { description: 'Receivers.' }),
          ...problemResponses(),
        },
      },
    },
    () => queries.receivers().map((name) => ({ name })),
  );
  app.get(
    '/api/v2/status',
    {
      schema: {
        operationId: 'getStatus',
        tags: ['alertmanager'],
        summary: 'Who answers.',
        response: { 200: ref<object>(ALERTMANAGER_STATUS), ...problemResponses() },
      },
    },
    () => ({
      cluster: { name: '', status: 'disabled', peers: [] },
      config: { original: '# slowburn: rules/routes.yaml and rules/correlation.yaml\n' },
      uptime: startedAt,
      versionInfo: { branch: '', buildDate: '', buildUser: '', goVersion: '', revision: '', version: deps.version },
    }),
  );
}

function registerSilences(app: Api, { queries, commands }: RouteDeps): void {
  app.get(
    '/api/v2/silences',
    {
      schema: {
        operationId: 'getSilences',
        tags: ['alertmanager'],
        summary: 'Every silence.',
        querystring: Type.Object({ filter }),
        response: {
          200: Type.Array(ref<GettableSilence>(GETTABLE_SILENCE), { description: 'Silences.' }),
          ...problemResponses('API_BAD_REQUEST'),
        },
      },
    },
    (request): GettableSilence[] => {
      const filters = readFilters(request.query.filter);
      return queries
        .silences({ state: null })
        .filter((silence) => fitsSilence(filters, silence))
        .map(toGettable);
    },
  );
  app.post(
    '/api/v2/silences',
    {
      schema: {
        operationId: 'postSilences',
        tags: ['alertmanager'],
        summary: 'Creates or edits a silence.',
        body: SILENCE_REQUEST,
        response: {
          200: ref<{ silenceID: string }>(SILENCE_ID),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_UNAVAILABLE'),
        },
      },
    },
    (request) => {
      const outcome = commands.setSilence(toRequest(request.body, callerOf(request).name));
      return { silenceID: silenceAfter(request.body.id ?? '', outcome).id };
    },
  );
  app.get(
    '/api/v2/silence/:id',
    {
      schema: {
        operationId: 'getSilenceById',
        tags: ['alertmanager'],
        summary: 'One silence.',
        params,
        response: {
          200: ref<GettableSilence>(GETTABLE_SILENCE),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND'),
        },
      },
    },
    (request): GettableSilence => {
      const silence = queries.silence(request.params.id);
      if (silence === null) throw noSuchSilence(request.params.id);
      return toGettable(silence);
    },
  );
  app.delete(
    '/api/v2/silence/:id',
    {
      schema: {
        operationId: 'deleteSilence',
        tags: ['alertmanager'],
        summary: 'Ends a silence now.',
        params,
        response: {
          200: ref<object>(NOTHING),
          ...problemResponses('API_BAD_REQUEST', 'API_NOT_FOUND', 'API_CONFLICT', 'API_UNAVAILABLE'),
        },
      },
    },
    (request) => {
      silenceAfter(request.params.id, commands.expireSilence(request.params.id));
      return {};
    },
  );
}

const toGettable = ({ alerts: _, ...silence }: SilenceView): GettableSilence => silence;

function patternOf(text: string): RegExp {
  try {
    return new RegExp(`^(?:${text})$`);
  } catch {
    throw badField('receiver', 'is no pattern');
  }
}

function gettableAlerts(queries: Queries): readonly GettableAlert[] {
  const alerts = queries.alerts();
  const prints = new Map(alerts.map(({ key, matchedLabels }) => [key, fingerprintOf(matchedLabels)]));
  const receivers = new Map<number, readonly { readonly name: string }[]>();
  const receiversOf = (incident: number | null): readonly { readonly name: string }[] => {
    if (incident === null) return [];
    const known = receivers.get(incident) ?? queries.receiversOf(incident).map((name) => ({ name }));
    receivers.set(incident, known);
    return known;
  };
  const now = queries.now();
  const endsAt = new Date(Date.parse(now) + ENDS_AFTER_MS).toISOString();
  const sorted = alerts.map((alert) => ({ alert, fingerprint: prints.get(alert.key) ?? '' }));
  return sorted
    .sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
    .map(({ alert, fingerprint }) => ({
      annotations: annotationsOf(alert),
      endsAt,
      fingerprint,
      generatorURL: alert.incident === null ? '' : `/incidents/${alert.incident}`,
      labels: alert.matchedLabels,
      receivers: receiversOf(alert.incident),
      startsAt: alert.since,
      status: statusOf(alert, prints),
      updatedAt: now,
    }));
}

const annotationsOf = ({ summary, runbook }: AlertView): LabelObject =>
  /^https?:/.test(runbook) ? { summary, runbook_url: runbook } : { summary };

function statusOf({ mutes }: AlertView, prints: ReadonlyMap<string, string>): GettableAlert['status'] {
  const named = (key: 'silence' | 'interval' | 'source'): string[] =>
    mutes.flatMap((mute) => {
      const value = mute[key];
      return value === null ? [] : [value];
    });
  return {
    state: mutes.length === 0 ? 'active' : 'suppressed',
    silencedBy: named('silence'),
    inhibitedBy: named('source').map((key) => prints.get(key) ?? ''),
    mutedBy: named('interval'),
  };
}
