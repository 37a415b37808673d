import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Commands, FollowUpOutcome, FollowUpView, Queries } from '../model/views.ts';
import { type Html, html } from './html.ts';

type Fields = Readonly<Partial<Record<'title' | 'owner' | 'due' | 'by', string>>>;

/** `/actions`: what is to be done after incidents, by forms that work without a script. */
export function registerActionPages(
  server: FastifyInstance,
  { queries, commands }: { readonly queries: Queries; readonly commands: Commands },
  send: (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply,
): void {
  server.get<{ Querystring: { message?: unknown } }>('/actions', (request, reply) => {
    const { message } = request.query;
    const body = actionsPage(
      queries.followUps({ state: null, incident: null }),
      typeof message === 'string' ? message : null,
    );
    return send(reply, 'Actions', '/actions', body);
  });
  server.post<{ Params: { id: string }; Body: Fields | undefined }>('/incidents/:id/actions', (request, reply) => {
    const { title = '', owner = '', due = '', by = '' } = request.body ?? {};
    const incident = Number(request.params.id);
    const outcome = commands.addFollowUp({ incident, title, owner, due, by: by.trim() || 'unknown' });
    return reply.redirect(
      `/incidents/${incident}?message=${encodeURIComponent(wordsOf(outcome, 'written down'))}`,
      303,
    );
  });
  for (const [verb, isDone] of [
    ['done', true],
    ['reopen', false],
  ] as const) {
    server.post<{ Params: { id: string }; Body: Fields | undefined }>(`/actions/:id/${verb}`, (request, reply) => {
      const by = request.body?.by?.trim() || 'unknown';
      const outcome = commands.markFollowUp(Number(request.params.id), isDone, by);
      const words = wordsOf(outcome, isDone ? 'done' : 'open again');
      return reply.redirect(`/actions?message=${encodeURIComponent(words)}`, 303);
    });
  }
}

function wordsOf(outcome: FollowUpOutcome, done: string): string {
  switch (outcome.kind) {
    case 'done':
      return `Done: action ${outcome.followUp.id} is ${done}.`;
    case 'not_found':
      return 'There is no such action or incident.';
    case 'conflict':
      return outcome.message;
    case 'bad_field':
      return `"${outcome.field}" ${outcome.message}`;
  }
}

function actionsPage(actions: readonly FollowUpView[], message: string | null): Html {
  const open = actions.filter(({ state }) => state !== 'done');
  const done = actions.filter(({ state }) => state === 'done');
  return html`${message === null ? '' : html`<p class="message" role="status">${message}</p>`}
${open.length === 0 ? html`<p class="quiet">Nothing is left to do. Actions are written down on the page of their incident.</p>` : html`<ul class="cards">${open.map(card)}</ul>`}
${done.length === 0 ? '' : html`<details><summary>${done.length} done</summary><ul class="cards">${done.map(card)}</ul></details>`}`;
}

function card({ id, incident, title, owner, due, state, doneAt, doneBy }: FollowUpView): Html {
  const [verb, label] = state === 'done' ? ['reopen', 'Not done after all'] : ['done', 'Done'];
  return html`<li class="card"><h3>${title}</h3>
<p>${state === 'overdue' ? html`<strong>overdue</strong>, ` : ''}${owner}, due ${due}. <a href="/incidents/${incident}">Incident ${incident}</a>${doneAt === null ? '' : html`. Done ${doneAt.slice(0, 10)} by ${doneBy}`}</p>
<form method="post" class="actions" action="/actions/${id}/${verb}">
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<div class="buttons"><button type="submit">${label}</button></div></form></li>`;
}
