import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { epochMs } from '../base/units.ts';
import type { Queries } from '../model/views.ts';
import { type Html, html } from './html.ts';
import { RANGES, sloPage } from './pages/slo.ts';
import { isList, type SloListAsked, SORTS, sloFilterForm, sloList } from './pages/slo-list.ts';
import { slosPage } from './pages/slos.ts';

const REFRESH_SECONDS = 15;

type Send = (reply: FastifyReply, title: string, path: string, body: Html, refreshSeconds?: number) => FastifyReply;
type Given = Readonly<Record<string, unknown>>;

/** `/slos`: all budgets, by SLO or as one list; `/slos/ID`: one of them. What is seen is said by the address. */
export function registerSloPages(server: FastifyInstance, queries: Queries, send: Send): void {
  server.get<{ Querystring: Given }>('/slos', (request, reply) => {
    const one = textOf(request.query);
    const filter = { slo: one('slo'), cluster: one('cluster'), zone: one('zone') };
    const asked: SloListAsked = {
      q: one('q'),
      service: one('service'),
      state: one('state'),
      severity: one('severity'),
      sort: SORTS.find((sort) => sort === one('sort')) ?? null,
      descending: one('order') === 'desc',
    };
    const slos = queries.slos();
    const form = slos.length === 0 ? '' : sloFilterForm(slos, asked);
    const body = isList(asked)
      ? html`${form}${sloList(slos, asked)}`
      : html`${form}${slosPage(slos, filter, queries.corrections({ state: null, cursor: null, limit: 1000 }).items)}`;
    return send(reply, 'SLOs', '/slos', body, REFRESH_SECONDS);
  });
  server.get<{ Params: { id: string }; Querystring: Given }>('/slos/:id', (request, reply) => {
    const one = textOf(request.query);
    const slo = queries.slo(request.params.id);
    if (slo === null) {
      return send(
        reply.code(404),
        'Not found',
        '',
        html`<p>There is no SLO ${request.params.id}. <a href="/slos">All SLOs.</a></p>`,
      );
    }
    const range = RANGES.find((known) => known === one('range')) ?? null;
    const history = queries.sloHistory({
      slo: slo.id,
      group: one('group'),
      from: range === null ? null : backFrom(queries.now(), range),
      to: null,
      stepSeconds: null,
    });
    return send(reply, slo.displayName, '/slos', sloPage(slo, history, { range, now: queries.now() }));
  });
}

const textOf =
  (given: Given) =>
  (name: string): string | null => {
    const value = given[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  };

const backFrom = (now: string, range: string): string =>
  formatInstant(epochMs((parseInstant(now) ?? 0) - (parseDuration(range) ?? 0)));
