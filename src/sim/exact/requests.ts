import { add, at } from '../columns.ts';
import { drawExponential, drawLognormal } from '../draws.ts';
import { type Fleet, REACH } from '../fleet.ts';
import type { ClusterSpec } from '../fleet-spec.ts';
import { CLASS, CLASSES, RETRY_OUTCOMES } from '../measures.ts';
import { NO_HOST } from '../policies/policy.ts';
import { countEjection } from '../rounds.ts';
import { NO_CONNECTION } from '../streams.ts';
import { REQUEST_CPU_S } from '../tls/costs.ts';
import { EVENT, type EventQueue } from './event-queue.ts';
import { Servers } from './servers.ts';

/** Share of attempts that open a connection to the host; the others take one from the pool. Ours. */
const CONNECT_SHARE = 0.05;
/** A refused connection, or one that a full host turns away, is known after this long, ms. Ours. */
const REFUSED_MS = 1;
/** First byte of the answer until the last is handed to the kernel, mean, ms. Ours. */
const WRITE_MS = 0.3;
/** A client waits for this long, and up to twice, before it sends a failed request again. Ours. */
const RESEND_MS = 50;
const HOT_KEY = 0x5eed;
const RETRY = { attempt: 0, success: 1, overflow: 2 } as const;

/** A request that is under way; records are used again. */
interface Request {
  balancer: number;
  cluster: number;
  host: number;
  key: number;
  startMs: number;
  sentMs: number;
  addedMs: number;
  retries: number;
  /** Times that the client had sent it before. */
  sent: number;
  outcome: number;
  /** The host did answer: its time counts as a backend's. */
  answered: boolean;
  /** Place of the connection that it goes over; none where those are not modelled. */
  stream: number;
  /** Its first byte is there, the rest takes so long, ms; null before. */
  bodyMs: number | null;
}

/** The life of every request: balancer, host, answer, perhaps a retry. */
export class Requests {
  readonly #fleet: Fleet;
  readonly #events: EventQueue;
  readonly #cores: readonly Servers[];
  readonly #slots: readonly Servers[];
  readonly #all: Request[] = [];
  readonly #free: number[] = [];
  /** By balancer x clusters + cluster: requests under way, and retries among them. */
  readonly #underWay: Int32Array;
  readonly #retrying: Int32Array;
  /** Likewise: attempts that hosts have not answered yet. */
  readonly #inFlight: Int32Array;

  constructor(fleet: Fleet, events: EventQueue, cores: readonly Servers[]) {
    this.#fleet = fleet;
    this.#events = events;
    this.#cores = cores;
    this.#slots = Array.from(fleet.hosts.slots, (slots) => new Servers(slots));
    this.#underWay = new Int32Array(fleet.routes.length);
    this.#retrying = new Int32Array(fleet.routes.length);
    this.#inFlight = new Int32Array(fleet.routes.length);
  }

  /** A client sends a request, for the first time or again (`sent` times before). */
  arrive(now: number, cluster: number, sent = 0): void {
    const fleet = this.#fleet;
    const balancer = fleet.l4.balancerOf(fleet.prng.below(2 ** 32));
    const share = balancer < 0 ? 0 : fleet.availability(balancer);
    if (share < 1 && fleet.prng.next() >= share) return;
    fleet.copied(balancer, cluster, 1);
    const isHot = fleet.prng.next() < at(fleet.hotKeyShare, cluster);
    const id = this.#take();
    const request = this.#of(id);
    const costMs = REQUEST_CPU_S * 1000 * at(fleet.balancers.cpuFactor, balancer);
    const done = this.#coresOf(balancer).take(now, costMs) + at(fleet.balancers.addedMs, balancer);
    add(fleet.measures.cpuS, balancer, costMs / 1000);
    Object.assign(request, {
      balancer,
      cluster,
      host: NO_HOST,
      key: isHot ? HOT_KEY : fleet.prng.below(2 ** 32),
      startMs: now,
      addedMs: done - now,
      retries: 0,
      sent,
      stream: NO_CONNECTION,
      bodyMs: null,
    });
    if (sent > 0) add(fleet.measures.clientRetries, this.#cell(request), 1);
    add(this.#underWay, this.#cell(request), 1);
    if (fleet.prng.next() < at(fleet.balancers.failShare, balancer)) {
      request.outcome = CLASS.serverError;
      this.#finish(done, id);
    } else this.#events.schedule(done, EVENT.dispatch, id);
  }

  /** The balancer chooses a host and sends the request. */
  dispatch(now: number, id: number): void {
    const fleet = this.#fleet;
    const request = this.#of(id);
    const { balancer, cluster } = request;
    const route = fleet.route(balancer, cluster);
    const host = fleet.pinned[cluster]?.draw() ?? route.pick(now, request.key);
    request.host = host;
    fleet.measures.hashOverflows[this.#cell(request)] = route.overflowed;
    request.sentMs = now;
    if (host === NO_HOST) {
      add(fleet.measures.noHealthy, this.#cell(request), 1);
      request.outcome = CLASS.serverError;
      this.#finish(now, id);
      return;
    }
    if (
      at(this.#inFlight, this.#cell(request)) >= (clusterOf(fleet, cluster).maxInFlight ?? Number.POSITIVE_INFINITY)
    ) {
      add(fleet.measures.rejections, this.#cell(request), 1);
      request.outcome = CLASS.serverError;
      this.#finish(now, id);
      return;
    }
    if (route.pool.inPanic) add(fleet.measures.panicRequests, this.#cell(request), 1);
    if (!this.#openStream(request)) {
      request.outcome = CLASS.serverError;
      this.#finish(now, id);
      return;
    }
    route.started(host);
    add(this.#inFlight, this.#cell(request), 1);
    this.#events.schedule(now + this.#serve(now, request), EVENT.reply, id);
  }

  /** The answer is there, or the time is up. */
  reply(now: number, id: number): void {
    const fleet = this.#fleet;
    const request = this.#of(id);
    const { balancer, cluster, host } = request;
    const route = fleet.route(balancer, cluster);
    const global = at(fleet.firstHost, cluster) + host;
    const cell = balancer * fleet.hostCount + global;
    if (this.#isHeldUp(now, request)) {
      [request.answered, request.outcome] = [false, CLASS.serverError];
      const { timeoutMs } = clusterOf(fleet, cluster);
      this.#events.schedule(request.sentMs + timeoutMs, EVENT.reply, id);
      return;
    }
    if (request.answered && request.bodyMs === null) {
      fleet.measures.backend.record(cell, (now - request.sentMs) / 1000);
      const { bodyMs } = clusterOf(fleet, cluster);
      if (bodyMs > 0) {
        request.bodyMs = drawExponential(fleet.prng, bodyMs);
        this.#events.schedule(now + request.bodyMs, EVENT.reply, id);
        return;
      }
    }
    this.#closeStream(now, request);
    route.finished(host);
    add(this.#inFlight, this.#cell(request), -1);
    const left = at(fleet.hosts.leftAt, global);
    if (left > request.sentMs && !route.pool.isMember(host)) {
      request.outcome = CLASS.none;
      add(fleet.measures.resets, balancer, 1);
      add(fleet.measures.hostResets, cell, 1);
    }
    const failed = request.outcome === CLASS.serverError || request.outcome === CLASS.none;
    add(fleet.measures.attempts, cell * CLASSES + request.outcome, 1);
    const ejection = route.pool.answered(now, host, failed);
    if (ejection !== null) {
      countEjection(fleet, balancer, cluster, ejection);
      if (ejection.enforced) this.#events.schedule(ejection.until, EVENT.release, balancer, cluster);
    }
    if (failed && this.#mayRetry(request)) {
      request.retries += 1;
      request.bodyMs = null;
      this.dispatch(now, id);
      return;
    }
    this.#finish(now, id);
  }

  /** Takes a place on a connection to the host; false where all are taken. */
  #openStream(request: Request): boolean {
    const { streams, measures, hostCount, firstHost } = this.#fleet;
    request.stream = NO_CONNECTION;
    if (clusterOf(this.#fleet, request.cluster).streams === null) return true;
    const place = request.balancer * hostCount + at(firstHost, request.cluster) + request.host;
    const connection = streams.open(place);
    if (connection === NO_CONNECTION) {
      add(measures.streamsRejected, place, 1);
      return false;
    }
    request.stream = streams.indexOf(place, connection);
    return true;
  }

  /** Its answer cannot come through, and its time is not up yet. */
  #isHeldUp(now: number, { stream, sentMs, bodyMs, cluster }: Request): boolean {
    if (stream === NO_CONNECTION || bodyMs !== null || !this.#fleet.streams.isStalled(stream)) return false;
    return now < sentMs + clusterOf(this.#fleet, cluster).timeoutMs;
  }

  #closeStream(now: number, { stream, sentMs }: Request): void {
    if (stream === NO_CONNECTION) return;
    this.#fleet.streams.close(stream);
    this.#fleet.measures.streamDuration.record(stream, (now - sentMs) / 1000);
  }

  /** What the host makes of the request: sets the outcome and returns how long that takes, ms. */
  #serve(now: number, request: Request): number {
    const fleet = this.#fleet;
    const { prng, hosts } = fleet;
    const { balancer, cluster } = request;
    const spec = clusterOf(fleet, cluster);
    const host = at(fleet.firstHost, cluster) + request.host;
    request.outcome = CLASS.serverError;
    request.answered = false;
    if (at(hosts.reach, host) === REACH.refused) return REFUSED_MS;
    if (at(hosts.reach, host) === REACH.hangs) return spec.timeoutMs;
    if (request.stream !== NO_CONNECTION && fleet.streams.isStalled(request.stream)) return spec.timeoutMs;
    const isNear = fleet.spec.balancers[balancer]?.zone === at(hosts.zone, host);
    // Backend hop: 0.1 to 0.5 ms in the zone, 1 to 2 ms across.
    const hopMs = isNear ? 0.1 + 0.4 * prng.next() : 1 + prng.next();
    const connectMs = prng.next() < CONNECT_SHARE ? hopMs : 0;
    if (connectMs > 0) fleet.measures.connect.record(balancer * fleet.hostCount + host, connectMs / 1000);
    request.answered = true;
    if (prng.next() < at(hosts.failShare, host)) return connectMs + at(hosts.failMs, host);
    const slots = this.#slotsOf(host);
    const waitMs = slots.wait(now, fleet.slots(host));
    if (waitMs > at(hosts.queueMs, host)) return connectMs + REFUSED_MS;
    const slow = fleet.slowness(host, now);
    const dependency = this.#askDependency(spec);
    const workMs = drawLognormal(prng, at(hosts.serviceMs, host) * slow, at(hosts.spread, host)) + dependency.ms;
    slots.take(now, workMs, fleet.slots(host));
    add(fleet.measures.hostBusyS, host, workMs / 1000);
    const totalMs = connectMs + hopMs + waitMs + workMs;
    if (totalMs > spec.timeoutMs) {
      request.answered = false;
      return spec.timeoutMs;
    }
    const draw = prng.next();
    if (dependency.failed || draw < spec.errorShare) request.outcome = CLASS.serverError;
    else request.outcome = draw < spec.errorShare + spec.clientErrorShare ? CLASS.clientError : CLASS.ok;
    return totalMs;
  }

  #askDependency(spec: ClusterSpec): { readonly ms: number; readonly failed: boolean } {
    const dependency = spec.dependency === null ? undefined : this.#fleet.dependencies[spec.dependency];
    if (dependency === undefined) return { ms: 0, failed: false };
    const draw = this.#fleet.prng.next();
    if (draw < dependency.hangShare) return { ms: spec.timeoutMs, failed: true };
    return {
      ms: drawLognormal(this.#fleet.prng, dependency.serviceMs, 0.5),
      failed: draw < dependency.hangShare + dependency.failShare,
    };
  }

  #mayRetry(request: Request): boolean {
    const { retries } = clusterOf(this.#fleet, request.cluster);
    if (retries === null || request.retries >= at(this.#fleet.retriesMax, request.cluster)) return false;
    const cell = this.#cell(request);
    // A retry keeps its place in the budget until its request ends.
    const isFirst = request.retries === 0;
    const room = Math.max(1, retries.budget * at(this.#underWay, cell));
    if (isFirst && at(this.#retrying, cell) + 1 > room) {
      add(this.#fleet.measures.retries, cell * RETRY_OUTCOMES.length + RETRY.overflow, 1);
      return false;
    }
    if (isFirst) add(this.#retrying, cell, 1);
    add(this.#fleet.measures.retries, cell * RETRY_OUTCOMES.length + RETRY.attempt, 1);
    return true;
  }

  #finish(now: number, id: number): void {
    const { measures, prng } = this.#fleet;
    const request = this.#of(id);
    const cell = this.#cell(request);
    add(this.#underWay, cell, -1);
    if (request.retries > 0) {
      add(this.#retrying, cell, -1);
      if (request.outcome === CLASS.ok) add(measures.retries, cell * RETRY_OUTCOMES.length + RETRY.success, 1);
    }
    const isFailed = request.outcome === CLASS.serverError || request.outcome === CLASS.none;
    if (isFailed && request.sent < at(this.#fleet.clientRetriesMax, request.cluster)) {
      const when = now + RESEND_MS * (1 + prng.next());
      this.#events.schedule(when, EVENT.resend, request.cluster, request.sent + 1);
    }
    const writeMs = drawExponential(prng, WRITE_MS);
    add(measures.requests, cell * CLASSES + request.outcome, 1);
    if (!isFailed) add(measures.bytesSent, cell, this.#fleet.spec.clusters[request.cluster]?.answerBytes ?? 0);
    measures.requestDuration.record(cell, (now - request.startMs + writeMs) / 1000);
    measures.addedDuration.record(cell, request.addedMs / 1000);
    measures.write.record(cell, (writeMs + (request.bodyMs ?? 0)) / 1000);
    this.#free.push(id);
  }

  #take(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    return (
      this.#all.push({
        balancer: 0,
        cluster: 0,
        host: NO_HOST,
        key: 0,
        startMs: 0,
        sentMs: 0,
        addedMs: 0,
        retries: 0,
        sent: 0,
        outcome: 0,
        answered: false,
        stream: NO_CONNECTION,
        bodyMs: null,
      }) - 1
    );
  }

  #of(id: number): Request {
    return this.#all[id] as Request;
  }

  #cell(request: Request): number {
    return request.balancer * this.#fleet.clusterCount + request.cluster;
  }

  #coresOf(balancer: number): Servers {
    return this.#cores[balancer] as Servers;
  }

  #slotsOf(host: number): Servers {
    return this.#slots[host] as Servers;
  }
}

function clusterOf(fleet: Fleet, cluster: number): ClusterSpec {
  return fleet.spec.clusters[cluster] as ClusterSpec;
}
