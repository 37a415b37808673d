import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { parseMatcher } from '../model/matcher.ts';
import { type SilenceMatcher, toSilenceMatcher } from '../model/mute.ts';
import type { Commands, Queries, SilenceOutcome, SilencePreviewView } from '../model/views.ts';
import type { Html } from './html.ts';
import { EMPTY_FORM, type SilenceForm, silencesPage } from './pages/silences.ts';

type Fields = Partial<Record<'matchers' | 'duration' | 'by' | 'comment' | 'id', string>>;

/** `/silences`: forms that work without a script. */
export function registerSilencePages(
  server: FastifyInstance,
  { queries, commands }: { readonly queries: Queries; readonly commands: Commands },
  send: (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply,
): void {
  const page = (
    reply: FastifyReply,
    form: SilenceForm,
    preview: SilencePreviewView | null,
    message: string | null,
  ): FastifyReply =>
    send(
      reply,
      'Silences',
      '/silences',
      silencesPage({ silences: queries.silences({ state: null }), form, preview, message }),
    );

  server.get<{ Querystring: { message?: unknown; matchers?: unknown } }>('/silences', (request, reply) => {
    const { message, matchers } = request.query;
    const form = { ...EMPTY_FORM, matchers: typeof matchers === 'string' ? matchers : '' };
    return page(reply, form, null, typeof message === 'string' ? message : null);
  });

  server.post<{ Body: Fields | undefined }>('/silences/preview', (request, reply) => {
    const form = formOf(request.body ?? {});
    const matchers = readMatchers(form.matchers);
    if (typeof matchers === 'string') return page(reply.code(400), form, null, matchers);
    const preview = queries.previewSilence(matchers);
    if ('kind' in preview) return page(reply.code(400), form, null, `Alerts: ${preview.message}.`);
    return page(reply, form, preview, null);
  });

  server.post<{ Body: Fields | undefined }>('/silences', (request, reply) => {
    const form = formOf(request.body ?? {});
    const matchers = readMatchers(form.matchers);
    if (typeof matchers === 'string') return page(reply.code(400), form, null, matchers);
    const duration = parseDuration(form.duration.trim());
    const now = parseInstant(queries.now());
    if (duration === undefined || now === undefined) {
      return page(reply.code(400), form, null, 'How long: write 30m, 2h or 1h30m.');
    }
    const outcome = commands.setSilence({
      id: null,
      matchers,
      startsAt: null,
      endsAt: endOf(now, duration),
      createdBy: form.by.trim() || 'unknown',
      comment: form.comment,
    });
    if (outcome.kind !== 'done') return page(reply.code(400), form, null, refusalOf(outcome));
    const { id, alerts, endsAt } = outcome.silence;
    return done(reply, `Done: silence ${id} until ${endsAt.slice(0, 16)} UTC; it mutes ${alerts} firing now.`);
  });

  server.post<{ Body: Fields | undefined }>('/silences/expire', (request, reply) => {
    const { id = '' } = request.body ?? {};
    const outcome = commands.expireSilence(id);
    return done(reply, outcome.kind === 'done' ? `Done: silence ${id} has ended.` : refusalOf(outcome));
  });
}

const done = (reply: FastifyReply, message: string): FastifyReply =>
  reply.redirect(`/silences?message=${encodeURIComponent(message)}`, 303);

const endOf = (now: EpochMs, duration: number): string => formatInstant(epochMs(now + duration));

const formOf = ({ matchers = '', duration = '', by = '', comment = '' }: Fields): SilenceForm => ({
  matchers,
  duration,
  by,
  comment,
});

function refusalOf(outcome: Exclude<SilenceOutcome, { kind: 'done' }>): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'There is no such silence.';
    case 'conflict':
      return outcome.message;
    case 'bad_field':
      return `"${outcome.field}" ${outcome.message}`;
  }
}

/** Matchers, or what to write instead. */
function readMatchers(text: string): readonly SilenceMatcher[] | string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const matchers = lines.map(parseMatcher);
  const bad = lines[matchers.indexOf(null)];
  if (bad !== undefined) return `${bad} is no matcher; write host=10.0.3.7 or zone=~"a|b".`;
  return matchers.filter((matcher) => matcher !== null).map(toSilenceMatcher);
}
