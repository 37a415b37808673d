import { Type } from 'typebox';
import type { Api, RouteDeps } from '../deps.ts';
import { ProblemError, problemResponses } from '../problem.ts';
import { type RunbookPage, renderRunbook } from '../runbook-page.ts';

const SUFFIX = '.md';

export function registerRunbookRoutes(
  app: Api,
  { queries, page }: Pick<RouteDeps, 'queries'> & { page: (runbook: RunbookPage) => string },
): void {
  app.get(
    '/runbooks/:name',
    {
      schema: {
        operationId: 'getRunbook',
        tags: ['runbooks'],
        summary: 'A runbook: a page, or its Markdown with Accept: text/markdown or the suffix .md.',
        params: Type.Object({ name: Type.String({ description: 'Name of the alert, or that and ".md".' }) }),
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
      return reply.type('text/html; charset=utf-8').send(page(renderRunbook(name, markdown)));
    },
  );
}

/** Whether an Accept header names Markdown and does not refuse it (`q=0`). Browsers never name it. */
const wantsMarkdown = (accept = ''): boolean =>
  accept
    .split(',')
    .some((range) => /^\s*text\/markdown\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
