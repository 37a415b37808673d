import { at } from '../../src/sim/columns.ts';
import { PushSchedule } from '../../src/sim/drill/push-schedule.ts';
import type { Fleet } from '../../src/sim/fleet.ts';
import type { FleetSpec } from '../../src/sim/fleet-spec.ts';
import { BUCKETS } from '../../src/sim/histogram-columns.ts';
import { CLASS, CLASSES, HANDSHAKE, HANDSHAKE_KINDS, RETRY_OUTCOMES } from '../../src/sim/measures.ts';

const HOUR_MS = 3_600_000;

/** What a fleet itself has counted, by name; differences of two are what it counted in between. */
type Counts = ReadonlyMap<string, number>;

/**
 * The simulated fleet's own counts of each hour, read from its columns when the hour ends: nothing here has been sent,
 * received or decoded. Names: `requests cluster shop`, `full zone a`, `busy host shop-3`, ...
 */
export class FleetTruth {
  readonly hours: { readonly endMs: number; readonly counts: Counts }[] = [];
  /** Of each host, the largest share that it had of its cluster's attempts between two looks while it failed most. */
  readonly failingShare = new Map<string, number>();
  #last: Counts = new Map();
  #versions = new Map<string, number>();
  #versionsLast: Counts = new Map();
  #config: readonly string[] = [];
  #requests: readonly number[] = [];
  #attempts = new Float64Array(0);

  /** Given to `rehearse` as `onAdvance`. */
  look(fleet: Fleet, virtualMs: number): void {
    this.#followVersions(fleet);
    this.#followFailing(fleet);
    if (virtualMs % HOUR_MS !== 0 || virtualMs / HOUR_MS !== this.hours.length + (virtualMs === 0 ? 0 : 1)) return;
    const now = countsOf(fleet);
    const versions = new Map(this.#versions);
    if (virtualMs > 0) {
      const counts = new Map([...differences(now, this.#last), ...differences(versions, this.#versionsLast)]);
      this.hours.push({ endMs: virtualMs, counts });
    }
    this.#last = now;
    this.#versionsLast = versions;
  }

  of(endMs: number, name: string): number {
    const hour = this.hours.find((one) => one.endMs === endMs);
    if (hour === undefined) throw new Error(`no hour ends at ${endMs}`);
    return hour.counts.get(name) ?? 0;
  }

  total(name: string): number {
    return this.hours.reduce((sum, { counts }) => sum + (counts.get(name) ?? 0), 0);
  }

  /** What comes before a look was answered by the version that ran at the look before. */
  #followVersions(fleet: Fleet): void {
    const requests = fleet.spec.balancers.map((_, b) => clientRequests(fleet, b));
    requests.forEach((count, b) => {
      const name = `requests version ${this.#config[b] ?? ''}`;
      if (this.#config[b] === undefined) return;
      this.#versions.set(name, (this.#versions.get(name) ?? 0) + count - (this.#requests[b] ?? 0));
    });
    this.#requests = requests;
    this.#config = fleet.spec.balancers.map((_, b) => fleet.configVersions[at(fleet.balancers.config, b)] ?? '');
  }

  #followFailing(fleet: Fleet): void {
    const sums = new Float64Array(fleet.hostCount * 2);
    for (let h = 0; h < fleet.hostCount; h += 1) {
      sums[2 * h] = attemptsOf(fleet, h);
      sums[2 * h + 1] = failuresOf(fleet, h);
    }
    const before = this.#attempts.length === 0 ? sums : this.#attempts;
    this.#attempts = sums;
    fleet.spec.clusters.forEach(({ hosts }, c) => {
      const first = at(fleet.firstHost, c);
      const grown = (h: number, failed: 0 | 1): number =>
        at(sums, 2 * (first + h) + failed) - at(before, 2 * (first + h) + failed);
      const all = hosts.reduce((sum, _, h) => sum + grown(h, 0), 0);
      hosts.forEach(({ name }, h) => {
        if (all === 0 || grown(h, 1) * 2 < grown(h, 0)) return;
        this.failingShare.set(name, Math.max(this.failingShare.get(name) ?? 0, grown(h, 0) / all));
      });
    });
  }
}

function differences(now: Counts, before: Counts): Map<string, number> {
  return new Map([...now].map(([name, value]) => [name, value - (before.get(name) ?? 0)]));
}

function countsOf(fleet: Fleet): Counts {
  const { measures, spec, clusterCount } = fleet;
  const found = new Map<string, number>();
  const put = (name: string, amount: number): void => void found.set(name, (found.get(name) ?? 0) + amount);
  spec.balancers.forEach((balancer, b) => {
    const zone = spec.zones[balancer.zone]?.name ?? '';
    const places = [`balancer ${balancer.name}`, `zone ${zone}`];
    for (const place of places) {
      put(`requests ${place}`, clientRequests(fleet, b));
      put(`full ${place}`, at(measures.handshakes, b * HANDSHAKE_KINDS.length + HANDSHAKE.full));
      put(`resumed ${place}`, at(measures.handshakes, b * HANDSHAKE_KINDS.length + HANDSHAKE.resumed));
      put(`cpu ${place}`, at(measures.cpuS, b));
    }
    spec.clusters.forEach(({ name }, c) => {
      const cell = b * clusterCount + c;
      const kind = (one: number): number => at(measures.serviceHandshakes, cell * HANDSHAKE_KINDS.length + one);
      put(`full cluster ${name}`, kind(HANDSHAKE.full));
      put(`resumed cluster ${name}`, kind(HANDSHAKE.resumed));
      put(`opened cluster ${name}`, at(measures.serviceConnections, cell));
      put(`open cluster ${name}`, at(measures.connectionS, cell));
      put(`bytes cluster ${name}`, at(measures.bytesSent, cell));
      put(`requests cluster ${name}`, at(measures.noHealthy, cell) + at(measures.rejections, cell));
      put(`retries edge ${name}`, at(measures.retries, cell * RETRY_OUTCOMES.length));
      put(`retries client ${name}`, at(measures.clientRetries, cell));
      for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
        put(`added ${bucket} zone ${zone}`, at(measures.addedDuration.counts, cell * BUCKETS + bucket));
      }
    });
  });
  spec.clusters.forEach(({ name, hosts }, c) => {
    hosts.forEach((host, local) => {
      const h = at(fleet.firstHost, c) + local;
      put(`requests cluster ${name}`, attemptsOf(fleet, h));
      put(`requests host ${host.name}`, attemptsOf(fleet, h));
      put(`busy host ${host.name}`, at(measures.hostBusyS, h));
    });
  });
  return found;
}

function clientRequests({ measures, clusterCount }: Fleet, balancer: number): number {
  const first = balancer * clusterCount * CLASSES;
  return measures.requests.subarray(first, first + clusterCount * CLASSES).reduce((sum, count) => sum + count, 0);
}

function attemptsOf({ measures, hostCount, balancerCount }: Fleet, host: number): number {
  let sum = 0;
  for (let b = 0; b < balancerCount; b += 1) {
    for (let c = 0; c < CLASSES; c += 1) sum += at(measures.attempts, (b * hostCount + host) * CLASSES + c);
  }
  return sum;
}

function failuresOf({ measures, hostCount, balancerCount }: Fleet, host: number): number {
  let sum = 0;
  for (let b = 0; b < balancerCount; b += 1) {
    sum += at(measures.attempts, (b * hostCount + host) * CLASSES + CLASS.serverError);
  }
  return sum;
}

/** A seed by which all balancers push at the same moments, which are whole multiples of the interval. */
export function seedOfOneMoment(balancers: FleetSpec['balancers'], pushMs: number): number {
  for (let seed = 1; ; seed += 1) {
    const schedule = new PushSchedule({ seed, balancers } as FleetSpec, pushMs);
    const [first, second] = schedule.between(0, pushMs);
    if (first?.atMs === pushMs && second === undefined) return seed;
  }
}
