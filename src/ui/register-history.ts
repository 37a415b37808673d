import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { epochMs } from '../base/units.ts';
import { RED_BY, SKEW_BY } from '../model/history-views.ts';
import type { Queries } from '../model/views.ts';
import type { Html } from './html.ts';
import { STAGE_RANGES, stagesPage } from './pages/stages.ts';
import { TRAFFIC_RANGES, type TrafficAsked, trafficPage } from './pages/traffic.ts';
import { MEASURE_OF, TREND_WEEKS } from './pages/trend-map.ts';

type Send = (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply;
type Given = Readonly<Record<string, unknown>>;

/** `/stages` and `/traffic`: forms that ask by GET, so that what is seen can be linked. */
export function registerHistoryPages(server: FastifyInstance, queries: Queries, send: Send): void {
  server.get<{ Querystring: Given }>('/stages', (request, reply) => {
    const one = textOf(request.query);
    const range = STAGE_RANGES.find((known) => known === one('range')) ?? '1h';
    const from = formatInstant(epochMs((parseInstant(queries.now()) ?? 0) - lengthOf(range)));
    const scope = { cluster: one('cluster'), zone: one('zone'), balancer: one('balancer') };
    return send(reply, 'Stages', '/stages', stagesPage(queries.stages({ ...scope, from, to: null }), range));
  });
  server.get<{ Querystring: Given }>('/traffic', (request, reply) => {
    const one = textOf(request.query);
    const asked: TrafficAsked = {
      by: RED_BY.find((known) => known === one('by')) ?? 'cluster',
      skewBy: SKEW_BY.find((known) => known === one('skew')) ?? 'host',
      cluster: one('cluster'),
      range: TRAFFIC_RANGES.find((known) => known === one('range')) ?? '1h',
    };
    const seconds = lengthOf(asked.range) / 1000;
    const weeks = TREND_WEEKS.find((known) => String(known) === one('weeks')) ?? null;
    const shown = {
      red: queries.red({ by: asked.by, seconds }),
      tls: queries.tls({ seconds }),
      skew: queries.skew({ by: asked.skewBy, cluster: asked.cluster, seconds }),
      trend: weeks === null ? null : queries.trendSeries({ measure: MEASURE_OF[asked.skewBy], until: null, weeks }),
    };
    return send(reply, 'Traffic, TLS and skew', '/traffic', trafficPage(shown, asked));
  });
}

const lengthOf = (range: string): number => parseDuration(range) ?? 0;

const textOf =
  (given: Given) =>
  (name: string): string | null => {
    const value = given[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  };
