import type { FastifyInstance, FastifyReply } from 'fastify';
import { CHECK_IDS, type CheckId } from '../model/practice.ts';
import type { Commands, Queries } from '../model/views.ts';
import { ICON, STYLE } from './assets.ts';
import { registerCompression } from './compress.ts';
import { type Html, html, trusted } from './html.ts';
import { layout } from './layout.ts';
import { cohortsSection } from './pages/compare.ts';
import { fleetPage } from './pages/fleet.ts';
import { incidentPage } from './pages/incident.ts';
import { nowPage } from './pages/now.ts';
import { registerActionPages } from './register-actions.ts';
import { registerComparePage } from './register-compare.ts';
import { registerCostPage } from './register-cost.ts';
import { registerHistoryPages } from './register-history.ts';
import { registerReviewPages } from './register-review.ts';
import { registerSilencePages } from './register-silences.ts';
import { registerSloPages } from './register-slos.ts';
import { SCRIPT } from './script.ts';

const REFRESH_SECONDS = 15;
/** More than these are not sorted by how urgent they are: the newest are shown. */
const INCIDENTS_MAX = 10_000;
const ACTIONS = ['acknowledge', 'unacknowledge', 'resolve', 'reopen', 'note', 'update', 'merge', 'split'] as const;

/** The pages: server-rendered, same-origin assets, no script needed for anything. */
export function registerPages(
  server: FastifyInstance,
  { queries, commands }: { readonly queries: Queries; readonly commands: Commands },
): void {
  const send = (
    reply: FastifyReply,
    title: string,
    path: string,
    body: Html,
    refreshSeconds?: number,
  ): FastifyReply => {
    const page = { title, path, now: queries.now(), ...(refreshSeconds === undefined ? {} : { refreshSeconds }) };
    return reply.type('text/html; charset=utf-8').send(layout(page, body));
  };
  const notFound = (reply: FastifyReply, what: string): FastifyReply =>
    send(reply.code(404), 'Not found', '', html`<p>${what} <a href="/">Back to what is open now.</a></p>`);

  registerCompression(server);
  server.get('/assets/slowburn.css', (_, reply) => reply.type('text/css; charset=utf-8').send(STYLE));
  server.get('/assets/slowburn.js', (_, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT));
  server.get('/assets/icon.svg', (_, reply) => reply.type('image/svg+xml').send(ICON));
  server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))));
  });

  server.get<{ Querystring: { page?: unknown } }>('/', (request, reply) => {
    const list = (state: 'active' | 'resolved', limit: number) =>
      queries.incidents({ state, cursor: null, limit }).items;
    const view = {
      incidents: list('active', INCIDENTS_MAX),
      recent: list('resolved', 10),
      alerts: queries.alerts(),
      slos: queries.slos(),
      page: Number(request.query.page) || 1,
      version: queries.version(),
    };
    return send(reply, 'Now', '/', nowPage({ ...view, now: queries.now() }), REFRESH_SECONDS);
  });
  registerSloPages(server, queries, send);
  registerHistoryPages(server, queries, send);
  registerCostPage(server, queries, send);
  server.get('/fleet', (_, reply) => {
    const balancers = queries.fleet();
    const cohorts = cohortsSection(queries.configVersions(), balancers);
    return send(reply, 'Fleet', '/fleet', html`${fleetPage(balancers, queries.now())}${cohorts}`, REFRESH_SECONDS);
  });
  registerComparePage(server, queries, send);
  registerActionPages(server, { queries, commands }, send);
  registerReviewPages(server, { queries, commands }, send);
  registerSilencePages(server, { queries, commands }, send);
  server.get('/runbooks', (_, reply) => {
    const items = queries.runbookNames().map((name) => html`<li><a href="/runbooks/${name}">${name}</a></li>`);
    return send(reply, 'Runbooks', '/runbooks', html`<ul class="plain">${items}</ul>`);
  });

  server.get<{ Params: { id: string }; Querystring: { message?: string } }>('/incidents/:id', (request, reply) => {
    const incident = queries.incident(Number(request.params.id));
    if (incident === null) return notFound(reply, `There is no incident ${request.params.id}.`);
    const message = request.query.message ?? null;
    return send(
      reply,
      `Incident ${incident.id}: ${incident.title}`,
      '',
      incidentPage(incident, queries.slos(), queries.now(), message),
    );
  });
  for (const kind of ACTIONS) {
    server.post<{ Params: { id: string }; Body: Readonly<Record<string, string>> }>(
      `/incidents/:id/${kind}`,
      (request, reply) => {
        const { by = '', note = '', into = '', ...others } = request.body ?? {};
        const given = { kind, by: by.trim() || 'unknown', note: note.trim() || null, until: null };
        const alerts = Object.entries(others).flatMap(([name, key]) => (name.startsWith('alert-') ? [key] : []));
        const parties =
          kind === 'merge'
            ? { into: Number(into) }
            : kind === 'split'
              ? { alerts }
              : kind === 'resolve'
                ? { checks: checksOf(others) }
                : {};
        const fields = { ...given, ...parties };
        const outcome = commands.act(Number(request.params.id), fields);
        if (outcome.kind === 'not_found') return notFound(reply, `There is no incident ${request.params.id}.`);
        const message = outcome.kind === 'conflict' ? outcome.message : `Done: ${kind}.`;
        return reply.redirect(`/incidents/${request.params.id}?message=${encodeURIComponent(message)}`, 303);
      },
    );
  }
}

const checksOf = (fields: Readonly<Record<string, string>>): readonly CheckId[] =>
  CHECK_IDS.filter((id) => fields[`check-${id}`] !== undefined);

/** Frames a rendered runbook; its body was made safe where it was rendered. */
export const runbookPage = (runbook: { readonly title: string; readonly body: string }, now: string): string =>
  layout(
    { title: runbook.title, path: '/runbooks', now },
    html`<article class="runbook">${trusted(runbook.body)}</article>`,
  );
