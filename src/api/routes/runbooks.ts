import { Type } from 'typebox';
import type { Api, RouteDeps } from '../deps.ts';
import { runbookValues } from '../incident-runbook.ts';
import { ProblemError, problemResponses } from '../problem.ts';
import { type RunbookPage, renderRunbook } from '../runbook-page.ts';

const SUFFIX = '.md';

export interface RunbookRouteDeps extends Pick<RouteDeps, 'queries'> {
  readonly page: (runbook: RunbookPage) => string;
  /** Where people reach the service, without a trailing slash; null = not known. */
  readonly baseUrl: () => string | null;
  readonly grafanaUrl: string | null;
}

export function registerRunbookRoutes(app: Api, { queries, page, baseUrl, grafanaUrl }: RunbookRouteDeps): void {
  app.get(
    '/runbooks/:name',
    {
      schema: {
        operationId: 'getRunbook',
        tags: ['runbooks'],
        summary: 'A runbook: a page, or its Markdown with Accept: text/markdown or the suffix .md.',
        params: Type.Object({ name: Type.String({ description: 'Name of the alert, or that and ".md".' }) }),
        querystring: Type.Object({
          incident: Type.Optional(
            Type.Integer({ minimum: 1, description: 'Fill the blanks of commands and queries from this incident.' }),
          ),
        }),
        response: {
          200: Type.Unsafe({
            description: 'The runbook.',
            content: { 'text/html': { schema: { type: 'string' } }, 'text/markdown': { schema: { type: 'string' } } },
          }),
          ...problemResponses('API_NOT_FOUND'),
        },
      },
    },
    (request, reply) => {
      const asked = request.params.name;
      const suffixed = asked.endsWith(SUFFIX);
      const name = suffixed ? asked.slice(0, -SUFFIX.length) : asked;
      const markdown = queries.runbook(name);
      if (markdown === null) {
        throw new ProblemError(
          'API_NOT_FOUND',
          `There is no runbook "${name}". There are: ${queries.runbookNames().join(', ')}.`,
        );
      }
      reply.header('vary', 'accept');
      if (suffixed || wantsMarkdown(request.headers.accept))
        return reply.type('text/markdown; charset=utf-8').send(markdown);
      const { incident: id } = request.query;
      const incident = id === undefined ? null : queries.incident(id);
      const values = runbookValues(name, incident, baseUrl());
      const rendered = renderRunbook(name, markdown, { values, incident: incident?.id ?? null, grafanaUrl });
      return reply.type('text/html; charset=utf-8').send(page(rendered));
    },
  );
}

/** Whether an Accept header names Markdown and does not refuse it (`q=0`). Browsers never name it. */
const wantsMarkdown = (accept = ''): boolean =>
  accept
    .split(',')
    .some((range) => /^\s*text\/markdown\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
