import { setTimeout as sleep } from 'node:timers/promises';
import type { BalancerView, Page } from '../../src/model/views.ts';
import { eventually, type LiveService } from './live-service.ts';
import { startLoad } from './load.ts';
import type { Row } from './rows.ts';
import type { SmallHost } from './small-host.ts';

const REQUESTS_PER_SECOND = 100;
const QUIET_MS = 6000;
const TROUBLE_MS = 2000;
const PUSH_MS_MAX = 30_000;

/** What one witness counted. Slow is what took longer than 250 ms. */
export interface Counts {
  readonly total: number;
  readonly bad: number;
  readonly slow: number;
}

export const NO_COUNTS: Counts = { total: 0, bad: 0, slow: 0 };

export const plus = (one: Counts, other: Counts): Counts => ({
  total: one.total + other.total,
  bad: one.bad + other.bad,
  slow: one.slow + other.slow,
});

/**
 * A bounded load through a balancer in front of the hosts: the first host fails for a moment, later the second is slow for
 * a moment. The exporter is heard before the load, and once more after it. Gives what the generator and the hosts saw.
 */
export async function runTroubledLoad(options: {
  readonly service: LiveService;
  readonly balancer: string;
  readonly port: number;
  readonly hosts: readonly SmallHost[];
  readonly headers?: Readonly<Record<string, string>>;
}): Promise<Counts> {
  const { service, balancer, port, hosts, headers } = options;
  const [failing, slow] = hosts;
  if (failing === undefined || slow === undefined) throw new Error('two hosts at least');
  await nextPush(service, balancer);
  const load = startLoad(port, REQUESTS_PER_SECOND, headers);
  let slowed = 0;
  try {
    await sleep(QUIET_MS);
    failing.broken = true;
    await sleep(TROUBLE_MS);
    failing.broken = false;
    await sleep(QUIET_MS);
    const before = slow.good;
    slow.slow = true;
    await sleep(TROUBLE_MS);
    slow.slow = false;
    slowed = slow.good - before;
    await sleep(QUIET_MS);
  } finally {
    await load.stop();
  }
  await nextPush(service, balancer);
  if (load.bad === 0 || slowed === 0) throw new Error('the load met no trouble');
  return { total: load.good + load.bad, bad: load.bad, slow: slowed };
}

export const fleetOf = async (service: LiveService): Promise<readonly BalancerView[]> =>
  (await service.json<Page<BalancerView>>('/api/v1/fleet')).items;

/** Waits for two more points of the balancer: the first may have been on its way. */
async function nextPush(service: LiveService, balancer: string): Promise<void> {
  const lastSeen = async () => (await fleetOf(service)).find(({ id }) => id === balancer)?.lastSeen;
  for (const _ of [1, 2]) {
    const before = await lastSeen();
    await eventually('a push', PUSH_MS_MAX, async () => ((await lastSeen()) === before ? null : true));
  }
}

/** The generator beside the balancer's own counters, and those beside slowburn. */
export function sideRows(side: string, generator: Counts, own: Counts, slowburn: Counts): readonly Row[] {
  const names = { total: 'requests', bad: 'errors', slow: 'slower than 250 ms' };
  return (['total', 'bad', 'slow'] as const).flatMap((key) => [
    { what: `${side}, ${names[key]}: generator and balancer`, expected: generator[key], found: own[key] },
    { what: `${side}, ${names[key]}: balancer and slowburn`, expected: own[key], found: slowburn[key] },
  ]);
}
