import type { FastifyRequest } from 'fastify';
import { ProblemError } from './problem.ts';

/** Parses a JSON body. An empty one counts as none: every action can do without. */
export function parseJsonBody(
  _: FastifyRequest,
  body: string | Buffer,
  done: (error: Error | null, value?: unknown) => void,
): void {
  const text = String(body);
  if (text.trim() === '') {
    done(null, null);
    return;
  }
  try {
    done(null, JSON.parse(text));
  } catch (error) {
    done(new ProblemError('API_BAD_REQUEST', `The body is not JSON: ${(error as Error).message}`));
  }
}
