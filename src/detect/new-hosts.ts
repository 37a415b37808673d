import type { FeatureSeries } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { logBinomialTail } from './binomial.ts';
import { type DetectionInput, threshold } from './detector.ts';
import type { Loads, Pool } from './host-loads.ts';
import { isEvidenced } from './robust-stats.ts';

/** A host that joined so long after the first of its cluster is new to it, not known since the start. */
const LATER_MS = 300_000;

/** Hosts that have joined and take less than their share, all of them together. */
export interface IdleHosts {
  readonly hosts: readonly string[];
  /** Of the cluster's requests, and what was due by capacity. */
  readonly share: number;
  readonly due: number;
}

/**
 * Hosts that joined within a day and, well after their slow start, still take less than a part of their share. `seen`:
 * hosts of the pool that were healthy for the first time within that day; such a one may never have taken a request.
 */
export function newHosts(
  { cluster, hosts, capacityOf }: Pool,
  loads: Loads,
  seen: readonly FeatureSeries[],
  end: EpochMs,
  { view, now, settings }: DetectionInput,
): IdleHosts | null {
  const grace = threshold(settings, 'slowStart') + threshold(settings, 'newHostAfter');
  const from = epochMs(end - threshold(settings, 'newHostAfter'));
  const firsts = hosts.flatMap(({ firstDataAt }) => (firstDataAt === null ? [] : [firstDataAt as number]));
  const began = Math.min(...firsts);
  const isNew = (at: number): boolean =>
    at >= began + LATER_MS && at > end - threshold(settings, 'newHostFor') && at <= end - grace;
  const joined = hosts.filter(({ firstDataAt }) => firstDataAt !== null && isNew(firstDataAt));
  const taking = new Set(hosts.map(({ host }) => host));
  const untouched = seen.filter(
    ({ labels, firstDataAt }) => !taking.has(labels.get('host') ?? '') && firstDataAt !== null && isNew(firstDataAt),
  );
  if (joined.length === 0 && untouched.length === 0) return null;
  const health = healthOf(view.gauges('host.healthy', now), cluster);
  const candidates = [
    ...joined.map(({ host, requests }) => ({ host, count: requests(from, end), capacity: capacityOf(host) })),
    ...untouched.map(({ labels }) => ({ host: labels.get('host') ?? '', count: 0, capacity: 1 })),
  ].filter(({ host, count }) => health.get(host) ?? count > 0);
  const idlers = candidates.filter(({ count }) => count === 0);
  const capacity = loads.capacity + idlers.reduce((sum, one) => sum + one.capacity, 0);
  const part = threshold(settings, 'newHostShare');
  const idle = candidates.filter((one) => one.count < (part * one.capacity * loads.total) / capacity);
  if (idle.length === 0) return null;
  const count = idle.reduce((sum, one) => sum + one.count, 0);
  const due = idle.reduce((sum, one) => sum + one.capacity, 0) / capacity;
  const rule = { minEvents: threshold(settings, 'minEvents'), minExpected: threshold(settings, 'minExpected') };
  if (due >= 1 || !isEvidenced(loads.total, due * loads.total, rule)) return null;
  // As few for them means as many for the others.
  const chance = logBinomialTail(loads.total - count, loads.total, 1 - due);
  if (chance > Math.log(threshold(settings, 'chance'))) return null;
  return { hosts: idle.map(({ host }) => host).sort(), share: count / loads.total, due };
}

/** Whether any balancer calls a host healthy; nothing where none says. */
function healthOf(
  readings: Iterable<{ readonly labels: ReadonlyMap<string, string>; readonly value: number }>,
  cluster: string,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { labels, value } of readings) {
    const host = labels.get('host');
    if (labels.get('cluster') !== cluster || host === undefined) continue;
    found.set(host, (found.get(host) ?? false) || value > 0);
  }
  return found;
}
