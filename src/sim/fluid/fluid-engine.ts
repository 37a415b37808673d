import { add, at } from '../columns.ts';
import { applyChange } from '../faults/apply-change.ts';
import type { Change, TimedChange } from '../faults/change.ts';
import type { Fleet } from '../fleet.ts';
import { CLASS, CLASSES } from '../measures.ts';
import { probeIntervalMs, probeRound, repin, sweepIntervalMs, sweepRound } from '../rounds.ts';
import { EdgeLoad } from './edge-load.ts';
import { FluidRequests } from './fluid-requests.ts';
import { HostLoad } from './host-load.ts';

/** How long steps are, ms, by how long ago the world changed: short while things move, long while nothing does. */
const STEPS = [
  { since: 5000, ms: 100 },
  { since: 60_000, ms: 500 },
  { since: 900_000, ms: 2000 },
] as const;
const STEP_BUSY_MS = 5000;
const STEP_QUIET_MS = 60_000;

/**
 * Requests and connections as flows: a step draws how many there were of each kind and what they met, from the same
 * state and the same health rules as the exact engine. Cost depends on balancers x hosts, not on traffic.
 */
export class FluidEngine {
  now = 0;
  readonly #fleet: Fleet;
  readonly #timeline: readonly TimedChange[];
  readonly #edge: EdgeLoad;
  readonly #load: HostLoad;
  readonly #requests: FluidRequests;
  readonly #probeMs: number;
  readonly #sweepMs: number;
  readonly #nextProbe: Float64Array;
  readonly #nextSweep: Float64Array;
  #shares: ReadonlyMap<number, number>;
  #connectionShares: ReadonlyMap<number, number>;
  #next = 0;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet, timeline: readonly TimedChange[]) {
    if (fleet.spec.clusters.some(({ clientRetries }) => clientRetries > 0)) {
      throw new RangeError('clients that retry need the exact engine');
    }
    this.#fleet = fleet;
    this.#timeline = [...timeline].sort((a, b) => a.at - b.at);
    this.#edge = new EdgeLoad(fleet);
    this.#load = new HostLoad(fleet);
    this.#requests = new FluidRequests(fleet, this.#edge, this.#load);
    this.#shares = fleet.l4.shares();
    this.#connectionShares = fleet.connectionShares();
    this.#probeMs = probeIntervalMs(fleet.spec);
    this.#sweepMs = sweepIntervalMs(fleet.spec);
    this.#nextProbe = Float64Array.from(fleet.spec.balancers, () => fleet.prng.next() * this.#probeMs);
    this.#nextSweep = Float64Array.from(fleet.spec.balancers, () => (0.5 + 0.5 * fleet.prng.next()) * this.#sweepMs);
    repin(fleet, 0);
  }

  /** Moves the fleet to this time. */
  advanceTo(until: number): void {
    while (this.now < until) {
      this.#applyDue();
      const due = this.#timeline[this.#next]?.at ?? Number.POSITIVE_INFINITY;
      const end = Math.min(until, due, this.now + this.#stepMs());
      this.#step(end);
    }
    this.#applyDue();
  }

  #applyDue(): void {
    for (;;) {
      const next = this.#timeline[this.#next];
      if (next === undefined || next.at > this.now) return;
      this.#next += 1;
      this.#cut(next.change);
      applyChange(this.#fleet, this.now, next.change);
      this.#shares = this.#fleet.l4.shares();
      this.#connectionShares = this.#fleet.connectionShares();
      this.#changedAt = this.now;
    }
  }

  #stepMs(): number {
    const since = this.now - this.#changedAt;
    const recent = STEPS.find((step) => since < step.since);
    if (recent !== undefined) return recent.ms;
    return this.#isQuiet() ? STEP_QUIET_MS : STEP_BUSY_MS;
  }

  /** Nothing that health rules would react to, nothing left over: a long step tells the same as many short ones. */
  #isQuiet(): boolean {
    const { routes, pinned, hosts } = this.#fleet;
    if (this.#fleet.streams.areStalled) return false;
    if (this.#requests.hasCarried || pinned.some((connections) => connections !== null)) return false;
    for (const { pool } of routes) if (pool.healthy < pool.members) return false;
    for (let host = 0; host < this.#fleet.hostCount; host += 1) {
      if (at(hosts.reach, host) !== 0 || at(hosts.failShare, host) > 0 || at(this.#load.backlogS, host) > 0)
        return false;
    }
    return this.#fleet.spec.balancers.every((_, balancer) => this.#edge.isQuiet(balancer));
  }

  #step(end: number): void {
    const fleet = this.#fleet;
    const elapsedS = (end - this.now) / 1000;
    const middle = (this.now + end) / 2;
    this.#checkHealth(end);
    this.#requests.arrived.fill(0);
    for (const [balancer, share] of this.#shares) {
      const through = share * fleet.availability(balancer);
      let requestsPerS = 0;
      for (let c = 0; c < fleet.clusterCount; c += 1) requestsPerS += fleet.requestsPerS(c, middle) * through;
      const connecting = this.#connectionShares.get(balancer) ?? 0;
      this.#edge.step(balancer, fleet.connectionsPerS(middle) * connecting, requestsPerS, elapsedS);
      for (let c = 0; c < fleet.clusterCount; c += 1) {
        this.#requests.step(this.now, balancer, c, fleet.requestsPerS(c, middle) * through, elapsedS);
      }
    }
    for (let host = 0; host < fleet.hostCount; host += 1) {
      this.#load.settle(host, at(this.#requests.arrived, host) / elapsedS, elapsedS, end);
    }
    repin(fleet, end - this.now);
    this.now = end;
  }

  /** Probes, sweeps and returns that are due by the end of the step. */
  #checkHealth(end: number): void {
    const fleet = this.#fleet;
    for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
      if (at(fleet.balancers.present, balancer) === 0) continue;
      for (let c = 0; c < fleet.clusterCount; c += 1) fleet.route(balancer, c).pool.release(this.now);
      if (at(this.#nextProbe, balancer) < end) {
        probeRound(fleet, balancer);
        this.#nextProbe[balancer] = Math.max(end, at(this.#nextProbe, balancer) + this.#probeMs);
      }
      if (at(this.#nextSweep, balancer) < end) {
        sweepRound(fleet, this.now, balancer, () => {});
        this.#nextSweep[balancer] = Math.max(end, at(this.#nextSweep, balancer) + this.#sweepMs);
      }
    }
  }

  /** Hosts that leave cut what is in flight to them. */
  #cut(change: Change): void {
    if (change.kind !== 'membership' || change.state !== 'left') return;
    const fleet = this.#fleet;
    const { measures, hostCount, clusterCount } = fleet;
    for (const local of fleet.chosenHosts(change.cluster, change.hosts)) {
      const host = at(fleet.firstHost, change.cluster) + local;
      for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
        const cut = this.#requests.cutOf(balancer * hostCount + host);
        this.#requests.inFlight[balancer * hostCount + host] = 0;
        add(measures.resets, balancer, cut);
        add(measures.hostResets, balancer * hostCount + host, cut);
        add(measures.requests, (balancer * clusterCount + change.cluster) * CLASSES + CLASS.none, cut);
        add(measures.attempts, (balancer * hostCount + host) * CLASSES + CLASS.none, cut);
      }
    }
  }
}
