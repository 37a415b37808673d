import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Says why a request that changes something comes from a page that is not ours, or null when it does not. Browsers
 * mark such requests with Sec-Fetch-Site or Origin; tools send neither and are let through.
 *
 * `trustedHosts` (null = any) are the names under which our own pages may be reached. It matters where no token is
 * asked for: a foreign page whose name was made to resolve to this machine (DNS rebinding) is then same-origin for
 * the browser. Numeric addresses, localhost and names without a dot cannot be taken over that way.
 */
export function foreignPage(
  method: string,
  headers: IncomingHttpHeaders,
  trustedHosts: readonly string[] | null,
): string | null {
  if (SAFE_METHODS.has(method)) return null;
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  if (site === undefined && origin === undefined) return null;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return `a page of another site sent it (Sec-Fetch-Site: ${String(site)})`;
  }
  const host = headers.host ?? '';
  if (site === undefined && hostOfOrigin(origin ?? '') !== host.toLowerCase()) {
    return `a page of ${origin} sent it, this is ${host}`;
  }
  if (trustedHosts !== null && !isOwnName(host, trustedHosts)) {
    return `this server does not know itself as ${host}; set externalUrl in slowburn.yaml, or a token`;
  }
  return null;
}

function hostOfOrigin(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

function isOwnName(host: string, trustedHosts: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return !name.includes('.') || name.endsWith('.localhost') || trustedHosts.includes(name);
}
