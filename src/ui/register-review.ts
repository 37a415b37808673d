import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Commands, Queries } from '../model/views.ts';
import { reviewMarkdown } from '../review/markdown.ts';
import { type Html, html } from './html.ts';
import { reviewPage } from './pages/review.ts';

type Send = (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply;

/** `/review/2026-W48`, also as Markdown; `/review` is the last week that is over. And the mark that its pages count. */
export function registerReviewPages(
  server: FastifyInstance,
  { queries, commands }: { readonly queries: Queries; readonly commands: Commands },
  send: Send,
): void {
  const missing = (reply: FastifyReply, week: string): FastifyReply => {
    const text = `${week} is no ISO week such as 2026-W48.`;
    return send(reply.code(404), 'Not found', '/review', html`<p>${text} <a href="/review">The last week</a></p>`);
  };
  const page = (reply: FastifyReply, week: string | null): FastifyReply => {
    const review = queries.review(week);
    if (review === undefined) return missing(reply, week ?? '');
    return send(reply, `Weekly review ${review.week}`, '/review', reviewPage(review));
  };
  server.get('/review', (_, reply) => page(reply, null));
  server.get<{ Params: { week: string } }>('/review/:week', (request, reply) => {
    const { week } = request.params;
    if (!week.endsWith('.md')) return page(reply, week);
    const review = queries.review(week.slice(0, -'.md'.length));
    if (review === undefined) return missing(reply, week);
    return reply.type('text/markdown; charset=utf-8').send(reviewMarkdown(review));
  });
  server.post<{ Params: { id: string }; Body: Readonly<Partial<Record<'by' | 'note' | 'noise', string>>> | undefined }>(
    '/incidents/:id/noise',
    (request, reply) => {
      const { by = '', note = '', noise = 'yes' } = request.body ?? {};
      const { id } = request.params;
      const isNoise = noise !== 'no';
      const judged = { incident: Number(id), isNoise, by: by.trim() || 'unknown', note: note.trim() || null };
      const outcome = commands.judge(judged);
      const done = isNoise ? 'Done: its pages count as noise.' : 'Done: its pages count as needed.';
      const message = outcome.kind === 'done' ? done : `There is no incident ${id}.`;
      return reply.redirect(`/incidents/${id}?message=${encodeURIComponent(message)}`, 303);
    },
  );
}
