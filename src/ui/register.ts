import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RunbookPage } from '../api/runbook-page.ts';
import type { Commands, IncidentDetailView, Queries } from '../model/views.ts';
import { ICON, STYLE } from './assets.ts';
import { registerCompression } from './compress.ts';
import { type Html, html, trusted } from './html.ts';
import { layout } from './layout.ts';
import { cohortsSection } from './pages/compare.ts';
import { fleetPage } from './pages/fleet.ts';
import { nowPage } from './pages/now.ts';
import { registerActionPages } from './register-actions.ts';
import { registerComparePage } from './register-compare.ts';
import { registerCorrectionPages } from './register-corrections.ts';
import { registerHistoryPages } from './register-history.ts';
import { registerIncidentPages } from './register-incident.ts';
import { registerSilencePages } from './register-silences.ts';
import { registerSloPages } from './register-slos.ts';
import { SCRIPT } from './script.ts';

const REFRESH_SECONDS = 15;
/** More than these are not sorted by how urgent they are: the newest are shown. */
const INCIDENTS_MAX = 10_000;

export interface PagesDeps {
  readonly queries: Queries;
  readonly commands: Commands;
  /** The runbook of an incident as a part of its page; null where it is no file of ours. */
  readonly runbook?: (incident: IncidentDetailView) => RunbookPage | null;
}

/** The pages: server-rendered, same-origin assets, no script needed for anything. */
export function registerPages(server: FastifyInstance, { queries, commands, runbook = () => null }: PagesDeps): void {
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
  server.get('/fleet', (_, reply) => {
    const balancers = queries.fleet();
    const cohorts = cohortsSection(queries.configVersions(), balancers);
    return send(reply, 'Fleet', '/fleet', html`${fleetPage(balancers, queries.now())}${cohorts}`, REFRESH_SECONDS);
  });
  registerComparePage(server, queries, send);
  registerActionPages(server, { queries, commands }, send);
  registerSilencePages(server, { queries, commands }, send);
  registerCorrectionPages(server, { queries, commands }, send);
  registerIncidentPages(server, { queries, commands, runbook }, send);
  server.get('/runbooks', (_, reply) => {
    const items = queries.runbookNames().map((name) => html`<li><a href="/runbooks/${name}">${name}</a></li>`);
    return send(reply, 'Runbooks', '/runbooks', html`<ul class="plain">${items}</ul>`);
  });
}

/** Frames a rendered runbook; its body was made safe where it was rendered. */
export const runbookPage = (runbook: { readonly title: string; readonly body: string }, now: string): string =>
  layout(
    { title: runbook.title, path: '/runbooks', now },
    html`<article class="runbook">${trusted(runbook.body)}</article>`,
  );
