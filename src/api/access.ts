import { createHash, timingSafeEqual } from 'node:crypto';
import type { AccessToken } from '../config/config.ts';

/** What a route asks for. `operate` includes `read` and `push`. */
export type Access = 'open' | 'push' | 'read' | 'operate';

/** Who asks. `name` is the token's; null when no token is needed. */
export interface Caller {
  readonly name: string | null;
}

export type AccessDecision =
  | { readonly kind: 'allowed'; readonly caller: Caller }
  | { readonly kind: 'unauthorized'; readonly detail: string }
  | { readonly kind: 'forbidden'; readonly detail: string };

export interface AccessControl {
  decide(authorization: string | undefined, wanted: Access): AccessDecision;
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/**
 * Decides by bearer token, or by Basic credentials whose password is the token (so that a browser can ask for it).
 * Without a token for `read` or `operate` nobody is asked for one of them, and without any nobody is asked at all: the
 * service then belongs on a loopback address.
 */
export function createAccessControl(tokens: readonly AccessToken[]): AccessControl {
  const known = tokens.map((token) => ({ ...token, digest: digest(token.value) }));
  const guarded = known.some((token) => token.role !== 'push');
  return {
    decide(authorization, wanted) {
      const asks = wanted === 'push' ? known.length > 0 : guarded;
      if (!asks || wanted === 'open') return { kind: 'allowed', caller: { name: null } };
      const secret = authorization === undefined ? null : secretOf(authorization);
      if (secret === null) {
        return { kind: 'unauthorized', detail: 'Send "Authorization: Bearer <token>", a token of slowburn.yaml.' };
      }
      const given = digest(secret);
      // Every token is compared in full, so that the time tells nothing about any of them.
      const matching = known.filter((token) => timingSafeEqual(token.digest, given));
      if (matching.length === 0) return { kind: 'unauthorized', detail: 'No token of slowburn.yaml has this value.' };
      const fitting = matching.find((token) => token.role === 'operate' || token.role === wanted);
      if (fitting !== undefined) return { kind: 'allowed', caller: { name: fitting.name } };
      const roles = matching.map((token) => `"${token.name}" has role ${token.role}`).join(', ');
      return { kind: 'forbidden', detail: `Token ${roles}; this needs ${wanted}.` };
    },
  };
}

/** The token in an Authorization header: after `Bearer`, or the password after `Basic`. */
function secretOf(authorization: string): string | null {
  const match = /^(bearer|basic) +([^\s]+)\s*$/i.exec(authorization);
  const [, scheme, value] = match ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return value;
  const credentials = Buffer.from(value, 'base64').toString('utf8');
  const colon = credentials.indexOf(':');
  return colon === -1 ? null : credentials.slice(colon + 1);
}

/** What a 401 offers: tools send a bearer token, browsers ask their user for Basic credentials. */
export const CHALLENGES: readonly string[] = ['Bearer realm="slowburn"', 'Basic realm="slowburn", charset="UTF-8"'];
