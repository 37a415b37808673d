import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RunbookPage } from '../api/runbook-page.ts';
import { parseDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { epochMs, HOUR, MINUTE } from '../base/units.ts';
import { groupKey, type SkewView, type SloHistoryView } from '../model/history-views.ts';
import { CHECK_IDS, type CheckId } from '../model/practice.ts';
import { firstStep } from '../model/runbook-step.ts';
import type { Commands, IncidentDetailView, Queries, SloView } from '../model/views.ts';
import { type Html, html } from './html.ts';
import { fleetMap, type NamedPlaces } from './pages/fleet-map.ts';
import { incidentPage } from './pages/incident.ts';
import { configSection, type StagesShown, skewSection, stagesSection } from './pages/incident-context.ts';
import { burningAlert } from './pages/incident-head.ts';

const ACTIONS = [
  'acknowledge',
  'unacknowledge',
  'resolve',
  'reopen',
  'snooze',
  'note',
  'update',
  'merge',
  'split',
] as const;
/** Errors of hosts on the map are those of so long. */
const MAP_SECONDS = 300;
/** What detectors read is kept for 8 days. */
const KEPT_SECONDS = 691_200;

type Fields = Readonly<Record<string, string>>;
type Send = (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply;

export interface IncidentPagesDeps {
  readonly queries: Queries;
  readonly commands: Commands;
  readonly runbook: (incident: IncidentDetailView) => RunbookPage | null;
}

/** `/incidents/ID`, and what people do there. */
export function registerIncidentPages(server: FastifyInstance, deps: IncidentPagesDeps, send: Send): void {
  const { queries, commands } = deps;
  const notFound = (reply: FastifyReply, id: string): FastifyReply =>
    send(
      reply.code(404),
      'Not found',
      '',
      html`<p>There is no incident ${id}. <a href="/">Back to what is open now.</a></p>`,
    );
  server.get<{ Params: { id: string }; Querystring: { message?: unknown } }>('/incidents/:id', (request, reply) => {
    const incident = queries.incident(Number(request.params.id));
    if (incident === null) return notFound(reply, request.params.id);
    const { message } = request.query;
    const body = pageOf(deps, incident, typeof message === 'string' ? message : null);
    return send(reply, `Incident ${incident.id}: ${incident.title}`, '', body);
  });
  for (const kind of ACTIONS) {
    server.post<{ Params: { id: string }; Body: Fields | undefined }>(`/incidents/:id/${kind}`, (request, reply) => {
      const { id } = request.params;
      const fields = request.body ?? {};
      const until = kind === 'snooze' ? untilOf(fields['duration'] ?? '', queries.now()) : null;
      const back = (message: string): FastifyReply =>
        reply.redirect(`/incidents/${encodeURIComponent(id)}?message=${encodeURIComponent(message)}`, 303);
      if (kind === 'snooze' && until === null) return back('How long: write 30m, 2h or 1h30m.');
      const outcome = commands.act(Number(id), { ...actionOf(kind, fields), until });
      if (outcome.kind === 'not_found') return notFound(reply, id);
      return back(outcome.kind === 'conflict' ? outcome.message : `Done: ${kind}.`);
    });
  }
}

function actionOf(kind: (typeof ACTIONS)[number], fields: Fields) {
  const { by = '', note = '', into = '', ...others } = fields;
  const given = { kind, by: by.trim() || 'unknown', note: note.trim() || null };
  switch (kind) {
    case 'merge':
      return { ...given, into: Number(into) };
    case 'split':
      return {
        ...given,
        alerts: Object.entries(others).flatMap(([name, key]) => (name.startsWith('alert-') ? [key] : [])),
      };
    case 'resolve':
      return { ...given, checks: checksOf(others) };
    default:
      return given;
  }
}

const checksOf = (fields: Fields): readonly CheckId[] => CHECK_IDS.filter((id) => fields[`check-${id}`] !== undefined);

/** So long from now; null where that is no duration. */
function untilOf(duration: string, now: string): string | null {
  const length = parseDuration(duration.trim());
  return length === undefined || length === 0 ? null : after(now, length);
}

const after = (at: string, milliseconds: number): string =>
  formatInstant(epochMs((parseInstant(at) ?? 0) + milliseconds));

function pageOf({ queries, runbook }: IncidentPagesDeps, incident: IncidentDetailView, message: string | null): Html {
  const [slos, now] = [queries.slos(), queries.now()];
  const named = namedPlaces(incident);
  const rendered = runbook(incident);
  const markdown = queries.runbook(incident.runbook);
  const hosts = queries.red({ by: 'host', seconds: MAP_SECONDS })?.rows ?? [];
  return incidentPage({
    incident,
    slos,
    now,
    message,
    history: historyOf(queries, incident, slos),
    firstStep: markdown === null ? null : firstStep(markdown),
    isInline: rendered !== null,
    runbook: rendered === null ? [] : partsOf(rendered.body),
    map: fleetMap(queries.fleet(), hosts, named),
    stages: stagesSection(stagesOf(queries, incident, now)),
    skew: skewSection(skewOf(queries, incident, now), new Set([...named.hosts, ...named.balancers])),
    config: configSection(queries.configVersions(), incident),
  });
}

/** What comes first in a runbook of ours, up to and with its first minutes; then the rest. */
function partsOf(body: string): readonly string[] {
  const parts = body.split(/(?=<h3 id="runbook-)/);
  const first = parts.findIndex((part) => /^<h3 id="runbook-(first-minutes|diagnosis)"/.test(part));
  if (first === -1) return [body];
  return [parts[first] ?? '', [...parts.slice(0, first), ...parts.slice(first + 1)].join('')];
}

/** What its alerts name, over all of its life. */
function namedPlaces({ members }: IncidentDetailView): NamedPlaces {
  const named = (label: string): ReadonlySet<string> =>
    new Set(members.flatMap(({ alert }) => alert.matchedLabels[label] || []));
  return { clusters: named('cluster'), zones: named('zone'), hosts: named('host'), balancers: named('balancer') };
}

/** What the burning group counted since a while before; null where none burns. */
function historyOf(queries: Queries, incident: IncidentDetailView, slos: readonly SloView[]): SloHistoryView | null {
  const alert = burningAlert(incident);
  const slo = slos.find(({ id }) => id === alert?.labels['slo']);
  const group = slo?.groups.find(({ labels }) =>
    Object.entries(labels).every(([name, value]) => (alert?.labels[name] ?? '') === value),
  );
  if (slo === undefined || group === undefined) return null;
  const [from, to] = [after(incident.openedAt, -2 * HOUR), incident.resolvedAt];
  return queries.sloHistory({ slo: slo.id, group: groupKey(group.labels), from, to, stepSeconds: 300 });
}

/** Of its lead's cluster where that has one, else of any member's. */
const clusterOf = ({ lead, members }: IncidentDetailView): string | null =>
  [lead, ...members.map(({ alert }) => alert)].flatMap((alert) => alert.matchedLabels['cluster'] || [])[0] ?? null;

const isKept = ({ openedAt }: IncidentDetailView, now: string): boolean =>
  after(openedAt, KEPT_SECONDS * 1000 - HOUR) > now;

function stagesOf(queries: Queries, incident: IncidentDetailView, now: string): StagesShown | null {
  if (!isKept(incident, now)) return null;
  const { openedAt, resolvedAt } = incident;
  const scope = { cluster: clusterOf(incident), zone: null, balancer: null };
  const hourBefore = after(openedAt, -HOUR);
  const before = queries.stages({ ...scope, from: hourBefore, to: openedAt });
  const during = queries.stages({ ...scope, from: openedAt, to: resolvedAt });
  const whole = queries.stages({ ...scope, from: hourBefore, to: resolvedAt });
  return before === null || during === null || whole === null ? null : { before, during, whole };
}

/** Hosts of its cluster; balancers where it names none. */
function skewOf(queries: Queries, incident: IncidentDetailView, now: string): SkewView | null {
  if (!isKept(incident, now)) return null;
  const { openedAt, resolvedAt } = incident;
  const cluster = clusterOf(incident);
  const length = (parseInstant(resolvedAt ?? now) ?? 0) - (parseInstant(openedAt) ?? 0);
  const seconds = Math.max(length, 5 * MINUTE) / 1000;
  return queries.skew({ by: cluster === null ? 'balancer' : 'host', cluster, seconds, until: resolvedAt });
}
