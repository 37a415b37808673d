import type { Emitter } from '../emit/emitter.ts';

const HEADERS = { 'content-type': 'application/x-protobuf' };

/**
 * Posts what every balancer sends at a virtual time, or only `balancers` by index, all at once. How many points; throws
 * when one is refused.
 */
export async function pushOverWire(
  emitter: Emitter,
  target: string,
  nowMs: number,
  balancers?: readonly number[],
): Promise<number> {
  const url = `${target.replace(/\/+$/, '')}/v1/metrics`;
  let points = 0;
  const posts: Promise<void>[] = [];
  for (const { body, points: sent } of emitter.exportAt(nowMs, balancers)) {
    points += sent;
    posts.push(post(url, new Uint8Array(body)));
  }
  await Promise.all(posts);
  return points;
}

async function post(url: string, body: Uint8Array): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200)}`);
}

/** `fetch` names the reason only in the cause. */
export function wireMessage(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
