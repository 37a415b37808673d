import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseDuration } from '../base/duration.ts';
import { CORRECTION_KINDS, WEEKDAYS } from '../model/correction.ts';
import type {
  Commands,
  CorrectionOutcome,
  CorrectionPreviewView,
  CorrectionRequest,
  Queries,
  RecurrenceView,
} from '../model/views.ts';
import { type Html, html } from './html.ts';
import { type CorrectionForm, correctionPage, correctionsPage } from './pages/corrections.ts';

const SHOWN_MAX = 200;

type Send = (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply;
type ById = { Params: { id: string }; Body: CorrectionForm | undefined; Querystring: { message?: unknown } };

/** `/corrections`: forms that work without a script. */
export function registerCorrectionPages(
  server: FastifyInstance,
  { queries, commands }: { readonly queries: Queries; readonly commands: Commands },
  send: Send,
): void {
  const page = (
    reply: FastifyReply,
    form: CorrectionForm,
    preview: CorrectionPreviewView | null,
    message: string | null,
  ): FastifyReply => {
    const { items, next } = queries.corrections({ state: null, cursor: null, limit: SHOWN_MAX });
    const slos = queries.slos().map(({ id }) => id);
    const view = { corrections: items, hasMore: next !== null, slos, form, preview, message };
    return send(reply, 'Corrections', '/corrections', correctionsPage(view));
  };

  server.get<{ Querystring: Readonly<Record<string, unknown>> }>('/corrections', (request, reply) => {
    const given = Object.entries(request.query).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    );
    const { message = null, ...form } = Object.fromEntries(given);
    return page(reply, form, null, message);
  });

  server.post<{ Body: CorrectionForm | undefined }>('/corrections/preview', (request, reply) => {
    const form = request.body ?? {};
    const preview = queries.previewCorrection(requestOf(form));
    if ('kind' in preview) return page(reply.code(400), form, null, `"${preview.field}" ${preview.message}`);
    return page(reply, form, preview, null);
  });

  server.post<{ Body: CorrectionForm | undefined }>('/corrections', (request, reply) => {
    const form = request.body ?? {};
    const outcome = commands.correct(requestOf(form));
    if (outcome.kind !== 'done') return page(reply.code(400), form, null, refusalOf(outcome));
    return done(reply, outcome.correction.id, 'it counts from the next tick on');
  });

  server.get<ById>('/corrections/:id', (request, reply) => {
    const correction = queries.correction(Number(request.params.id));
    if (correction === null) {
      const body = html`<p>There is no correction ${request.params.id}. <a href="/corrections">All corrections</a></p>`;
      return send(reply.code(404), 'Not found', '', body);
    }
    const { message } = request.query;
    const shown = typeof message === 'string' ? message : null;
    return send(reply, `Correction ${correction.id}`, '/corrections', correctionPage(correction, shown));
  });

  for (const kind of ['end', 'undo'] as const) {
    server.post<ById>(`/corrections/:id/${kind}`, (request, reply) => {
      const id = Number(request.params.id);
      const { by = '', reason = '' } = request.body ?? {};
      if (reason.trim() === '') return told(reply, id, 'A reason is needed.');
      const change = { kind, by: by.trim() || 'unknown', reason: reason.trim() };
      const outcome = commands.changeCorrection(id, change);
      if (outcome.kind !== 'done') return told(reply, id, refusalOf(outcome));
      return done(reply, id, kind === 'end' ? 'ended' : 'undone');
    });
  }
}

const told = (reply: FastifyReply, id: number, message: string): FastifyReply =>
  reply.redirect(`/corrections/${id}?message=${encodeURIComponent(message)}`, 303);

const done = (reply: FastifyReply, id: number, what: string): FastifyReply =>
  told(reply, id, `Done: correction ${id}, ${what}.`);

function refusalOf(outcome: Exclude<CorrectionOutcome, { kind: 'done' }>): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'There is no such correction.';
    case 'conflict':
      return outcome.message;
    case 'bad_field':
      return `"${outcome.field}" ${outcome.message}`;
  }
}

/** What the form says; what does not fit is told where the request is read. */
function requestOf(form: CorrectionForm): CorrectionRequest {
  const value = (name: string): string => (form[name] ?? '').trim();
  const recurring = recurrenceOf(value);
  return {
    kind: CORRECTION_KINDS.find((kind) => kind === value('kind')) ?? 'maintenance',
    reason: value('reason'),
    by: value('by') || 'unknown',
    slos: value('slo') === '' ? [] : [value('slo')],
    matchers: value('matchers')
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter(Boolean),
    from: instantOf(value('from')),
    to: instantOf(value('to')),
    recurring,
  };
}

/** What a `datetime-local` field says, as UTC; an instant as it is. */
function instantOf(text: string): string | null {
  if (text === '') return null;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00Z` : /Z$/.test(text) ? text : `${text}Z`;
}

/** Null where no day of the week is chosen. */
function recurrenceOf(value: (name: string) => string): RecurrenceView | null {
  const weekdays = WEEKDAYS.filter((day) => value(`on-${day}`) !== '');
  if (weekdays.length === 0) return null;
  return {
    weekdays,
    start: value('start').slice(0, 5),
    durationSeconds: (parseDuration(value('duration')) ?? 0) / 1000,
    zone: value('zone'),
    firstDate: value('firstDate'),
    lastDate: value('lastDate') || null,
  };
}
