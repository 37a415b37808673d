import { at } from '../columns.ts';
import { drawExponential } from '../draws.ts';
import { applyChange } from '../faults/apply-change.ts';
import type { TimedChange } from '../faults/change.ts';
import type { Fleet } from '../fleet.ts';
import { probeIntervalMs, probeRound, repin, sweepIntervalMs, sweepRound } from '../rounds.ts';
import { Connections } from './connections.ts';
import { EVENT, EventQueue } from './event-queue.ts';
import { Requests } from './requests.ts';
import { Servers } from './servers.ts';

const SECOND_MS = 1000;
/** Of a connection event that stands for the stream of new ones, not for one that tries again. */
const STREAM = 0;

/**
 * Exact events: every request, connection and probe is one. Good up to some thousand requests per second; above, the
 * fluid engine takes over.
 */
export class ExactEngine {
  now = 0;
  readonly #fleet: Fleet;
  readonly #events = new EventQueue();
  readonly #requests: Requests;
  readonly #connections: Connections;
  readonly #timeline: readonly TimedChange[];
  readonly #probeMs: number;
  readonly #sweepMs: number;
  /** Streams of arrivals are drawn anew when a change touched their rate; events of older streams are dropped. */
  #stream = 0;

  constructor(fleet: Fleet, timeline: readonly TimedChange[]) {
    this.#fleet = fleet;
    this.#timeline = timeline;
    this.#probeMs = probeIntervalMs(fleet.spec);
    this.#sweepMs = sweepIntervalMs(fleet.spec);
    const cores = fleet.spec.balancers.map((balancer) => new Servers(balancer.cores));
    this.#requests = new Requests(fleet, this.#events, cores);
    this.#connections = new Connections(fleet, this.#events, cores);
    timeline.forEach(({ at: when }, index) => {
      this.#events.schedule(when, EVENT.change, index);
    });
    fleet.spec.balancers.forEach((_, balancer) => {
      // Balancers probe and sweep at phases of their own.
      this.#events.schedule(fleet.prng.next() * this.#probeMs, EVENT.probe, balancer);
      this.#events.schedule((0.5 + 0.5 * fleet.prng.next()) * this.#sweepMs, EVENT.sweep, balancer);
    });
    repin(fleet, 0);
    this.#events.schedule(SECOND_MS, EVENT.second, 0);
    this.#startStreams();
  }

  /** Runs every event up to and including this time. */
  advanceTo(until: number): void {
    const events = this.#events;
    while (events.nextTime <= until) {
      events.next();
      this.now = events.time;
      this.#run(events.kind, events.a, events.b);
    }
    this.now = until;
  }

  #run(kind: number, a: number, b: number): void {
    const { now } = this;
    switch (kind) {
      case EVENT.change:
        this.#change(a);
        return;
      case EVENT.arrival:
        this.#arrival(a, b);
        return;
      case EVENT.dispatch:
        this.#requests.dispatch(now, a);
        return;
      case EVENT.reply:
        this.#requests.reply(now, a);
        return;
      case EVENT.probe:
        if (at(this.#fleet.balancers.present, a) === 1) probeRound(this.#fleet, a);
        this.#events.schedule(now + this.#probeMs, EVENT.probe, a);
        return;
      case EVENT.sweep:
        sweepRound(this.#fleet, now, a, (cluster, { until }) =>
          this.#events.schedule(until, EVENT.release, a, cluster),
        );
        this.#events.schedule(now + this.#sweepMs, EVENT.sweep, a);
        return;
      case EVENT.release:
        this.#fleet.route(a, b).pool.release(now);
        return;
      case EVENT.connect:
        this.#connect(a, b);
        return;
      case EVENT.resend:
        this.#requests.arrive(now, a, b);
        return;
      case EVENT.accepted:
        this.#connections.accepted(now, a, b);
        return;
      default:
        this.#connections.second(now);
        repin(this.#fleet, SECOND_MS);
        this.#events.schedule(now + SECOND_MS, EVENT.second, 0);
    }
  }

  #change(index: number): void {
    const change = this.#timeline[index]?.change;
    if (change === undefined) return;
    applyChange(this.#fleet, this.now, change);
    if (change.kind === 'traffic' || change.kind === 'copies_dropped') this.#startStreams();
  }

  #startStreams(): void {
    this.#stream += 1;
    for (let cluster = 0; cluster < this.#fleet.clusterCount; cluster += 1) this.#nextArrival(cluster);
    this.#nextConnect();
  }

  /** Arrivals are drawn at the day's highest rate and kept with the share that the hour has of it. */
  #arrival(cluster: number, stream: number): void {
    if (stream !== this.#stream) return;
    this.#nextArrival(cluster);
    if (this.#isKept()) this.#requests.arrive(this.now, cluster);
  }

  #nextArrival(cluster: number): void {
    const rate = (this.#fleet.requestsPerS(cluster, this.now) / this.#fleet.dayFactor(this.now)) * this.#peak();
    if (!(rate > 0)) return;
    const gapMs = drawExponential(this.#fleet.prng, 1000 / rate);
    this.#events.schedule(this.now + gapMs, EVENT.arrival, cluster, this.#stream);
  }

  #connect(stream: number, tries: number): void {
    if (stream < STREAM) {
      this.#connections.connect(this.now, tries);
      return;
    }
    if (stream !== this.#stream) return;
    this.#nextConnect();
    if (this.#isKept()) this.#connections.connect(this.now, 0);
  }

  #nextConnect(): void {
    const rate = (this.#fleet.connectionsPerS(this.now) / this.#fleet.dayFactor(this.now)) * this.#peak();
    if (!(rate > 0)) return;
    const gapMs = drawExponential(this.#fleet.prng, 1000 / rate);
    this.#events.schedule(this.now + gapMs, EVENT.connect, this.#stream);
  }

  #peak(): number {
    return 1 + Math.abs(this.#fleet.spec.clients.swing);
  }

  #isKept(): boolean {
    const share = this.#fleet.dayFactor(this.now) / this.#peak();
    return share >= 1 || this.#fleet.prng.next() < share;
  }
}
