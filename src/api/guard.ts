import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Access, type AccessControl, type Caller, CHALLENGES } from './access.ts';
import { CALLER } from './caller.ts';
import { foreignPage } from './foreign-page.ts';
import { sendProblem } from './problem.ts';
import { PUSH_PATHS } from './routes/foreign-alerts.ts';
import { OPEN_PATHS } from './routes/health.ts';

/**
 * What every answer says to a browser: only our own scripts and styles, in no frame, types as declared. The referrer
 * policy keeps Origin on our own forms, which `foreignPage` reads.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The first hook of every request: headers, foreign pages, tokens. Answers itself when the request may not go on. */
export function createGuard(access: AccessControl, trustedHosts: readonly string[] | null) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    reply.headers(HEADERS);
    const foreign = foreignPage(request.method, request.headers, trustedHosts);
    if (foreign !== null) return sendProblem(request, reply, 'API_FORBIDDEN', `Refused: ${foreign}.`);
    const decision = access.decide(request.headers.authorization, accessOf(request));
    switch (decision.kind) {
      case 'allowed':
        request.setDecorator<Caller | null>(CALLER, decision.caller);
        return undefined;
      case 'unauthorized':
        reply.header('www-authenticate', CHALLENGES);
        return sendProblem(request, reply, 'API_UNAUTHORIZED', decision.detail);
      case 'forbidden':
        return sendProblem(request, reply, 'API_FORBIDDEN', decision.detail);
    }
  };
}

function accessOf(request: FastifyRequest): Access {
  if (OPEN_PATHS.has(request.routeOptions.url ?? '')) return 'open';
  if (request.method === 'POST' && PUSH_PATHS.has(request.routeOptions.url ?? '')) return 'push';
  return READING.has(request.method) ? 'read' : 'operate';
}
