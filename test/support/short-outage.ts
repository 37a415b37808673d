import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from './load.ts';
import type { SmallHost } from './small-host.ts';

/** Requests of several lives of a balancer. */
export interface Counts {
  total: number;
  bad: number;
}

const REQUESTS_PER_SECOND = 100;

/**
 * Bounded load with a short outage of the first host. It begins `upMs` after the call, so that the exporter is up
 * before it, and ends with `settleMs` of quiet, so that what came last is exported. Answers are added to the ledger.
 */
export async function shortOutage(
  port: number,
  hosts: readonly SmallHost[],
  ledger: Counts,
  { upMs, settleMs }: { readonly upMs: number; readonly settleMs: number },
): Promise<void> {
  await sleep(upMs);
  const load = startLoad(port, REQUESTS_PER_SECOND);
  await sleep(4000);
  const [host] = hosts;
  if (host !== undefined) host.broken = true;
  await sleep(500);
  if (host !== undefined) host.broken = false;
  await sleep(8000);
  await load.stop();
  ledger.total += load.good + load.bad;
  ledger.bad += load.bad;
  await sleep(settleMs);
}
