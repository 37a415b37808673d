import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseInstant } from '../base/instant.ts';
import { isoWeekAt, isoWeekStart } from '../base/iso-week.ts';
import { DAY, epochMs } from '../base/units.ts';
import type { Queries } from '../model/views.ts';
import { type Html, html } from './html.ts';
import { costPage } from './pages/cost.ts';
import { scorecardSection } from './pages/scorecard.ts';

type Send = (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply;

/** `/cost/2026-W48`; `/cost` leads to the last whole week. */
export function registerCostPage(server: FastifyInstance, queries: Queries, send: Send): void {
  server.get('/cost', (_, reply) => {
    const now = parseInstant(queries.now()) ?? 0;
    return reply.redirect(`/cost/${isoWeekAt(epochMs(now - 7 * DAY))}`, 303);
  });
  server.get<{ Params: { week: string } }>('/cost/:week', (request, reply) => {
    const { week } = request.params;
    const start = isoWeekStart(week);
    if (start === undefined) {
      const body = html`<p>There is no ISO week ${week}. <a href="/cost">The last whole week.</a></p>`;
      return send(reply.code(404), 'Not found', '', body);
    }
    const at = (weeks: number): string => isoWeekAt(epochMs(start + weeks * 7 * DAY));
    const body = html`${costPage(queries.cost(week), [at(-1), at(1)])}
<section aria-labelledby="scorecard"><h2 id="scorecard">Against the standard</h2>${scorecardSection(queries.scorecard(week))}</section>`;
    return send(reply, `Cost of services, ${week}`, '', body);
  });
}
