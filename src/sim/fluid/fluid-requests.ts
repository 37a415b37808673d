import { add, at } from '../columns.ts';
import { drawBinomial } from '../draws.ts';
import type { Fleet } from '../fleet.ts';
import type { ClusterSpec } from '../fleet-spec.ts';
import { CLASS, CLASSES, RETRY_OUTCOMES } from '../measures.ts';
import { countEjection } from '../rounds.ts';
import type { EdgeLoad } from './edge-load.ts';
import type { HostLoad } from './host-load.ts';
import { latencyWeights } from './latency-weights.ts';
import { policyShares } from './policy-shares.ts';
import { StreamFlow } from './stream-flow.ts';

/** Share of attempts that open a connection to the host, its mean duration near and far, s; as in the exact engine. */
const CONNECT_SHARE = 0.05;
const CONNECT_S = { near: 0.0003, far: 0.0015 } as const;
const WRITE_S = 0.0003;
/** From this share of failures on, failures come in a row: they are told to the ejector one by one. */
const ROW_SHARE = 0.98;
const ROW = 5;
const NONE_IN_FLIGHT = 1e-3;
const RETRY = { attempt: 0, success: 1, overflow: 2 } as const;

/** Requests of a step, by balancer, cluster and host. Everything is counted in whole requests. */
export class FluidRequests {
  /** (balancer, host): mean requests in flight. */
  readonly inFlight: Float64Array;
  /** (host): requests of this step so far. */
  readonly arrived: Float64Array;
  readonly #fleet: Fleet;
  readonly #edge: EdgeLoad;
  readonly #load: HostLoad;
  /** (balancer, cluster): requests that an ejection in mid-step kept from its host; they go with the next step. */
  readonly #carried: Float64Array;
  readonly #entry: Int32Array;
  readonly #shares: Float64Array;
  /** Share of the picks last shared out that bounded load sent past their host. */
  #overflow = 0;
  readonly #streams: StreamFlow;
  readonly #columns: { weight: Float64Array; timeS: Float64Array; inFlight: Float64Array; ageMs: Float64Array };

  constructor(fleet: Fleet, edge: EdgeLoad, load: HostLoad) {
    this.#fleet = fleet;
    this.#edge = edge;
    this.#load = load;
    this.#streams = new StreamFlow(fleet);
    const cells = fleet.balancerCount * fleet.hostCount;
    const column = (): Float64Array => new Float64Array(fleet.hostCount);
    this.inFlight = new Float64Array(cells);
    this.arrived = column();
    this.#carried = new Float64Array(fleet.routes.length);
    this.#entry = new Int32Array(fleet.hostCount);
    this.#shares = column();
    this.#columns = { weight: column(), timeS: column(), inFlight: column(), ageMs: column() };
  }

  get hasCarried(): boolean {
    return this.#carried.some((count) => count > 0);
  }

  /** Whole requests in flight; what is left of a mean far below one is none. */
  cutOf(place: number): number {
    const mean = at(this.inFlight, place);
    return mean < NONE_IN_FLIGHT ? 0 : this.#fleet.prng.poisson(mean);
  }

  /** One balancer's requests to one cluster: `perS` on average for `elapsedS`, ending at `now`. */
  step(now: number, balancer: number, cluster: number, perS: number, elapsedS: number): void {
    const { prng, measures, balancers, routes } = this.#fleet;
    const cell = balancer * this.#fleet.clusterCount + cluster;
    const offered = prng.poisson(perS * elapsedS) + at(this.#carried, cell);
    this.#fleet.copied(balancer, cluster, offered - at(this.#carried, cell));
    this.#carried[cell] = 0;
    const lost = drawBinomial(prng, offered, at(this.#edge.lostShare, balancer));
    const refused = drawBinomial(prng, offered - lost, at(balancers.failShare, balancer));
    add(measures.requests, cell * CLASSES + CLASS.none, lost);
    this.#answerItself(balancer, cell, refused);
    const count = offered - lost - refused;
    const groups = routes[cell]?.split.length ?? 1;
    let [left, shareLeft] = [count, 1];
    for (let group = 0; group < groups; group += 1) {
      const share = routes[cell]?.split[group] ?? 1;
      const here = group === groups - 1 ? left : drawBinomial(prng, left, Math.min(1, share / shareLeft));
      left -= here;
      shareLeft = Math.max(1e-9, shareLeft - share);
      if (here > 0 || groups === 1) this.#spread(now, balancer, cluster, group, here, elapsedS);
    }
  }

  #spread(now: number, balancer: number, cluster: number, group: number, offered: number, elapsedS: number): void {
    const { measures, prng } = this.#fleet;
    const cell = balancer * this.#fleet.clusterCount + cluster;
    const route = this.#fleet.route(balancer, cluster);
    const entries = this.#shareOut(now, balancer, cluster, group, elapsedS);
    if (entries === 0) {
      add(measures.noHealthy, cell, offered);
      this.#answerItself(balancer, cell, offered);
      return;
    }
    const rejected = this.#beyondLimit(balancer, cluster, entries, offered, elapsedS);
    add(measures.rejections, cell, rejected);
    this.#answerItself(balancer, cell, rejected);
    const count = offered - rejected;
    if (route.pool.inPanic) add(measures.panicRequests, cell, count);
    if (this.#overflow > 0) add(measures.hashOverflows, cell, drawBinomial(prng, count, this.#overflow));
    let [left, shareLeft] = [count, 1];
    for (let i = 0; i < entries; i += 1) {
      const share = at(this.#shares, i);
      const here = i === entries - 1 ? left : drawBinomial(prng, left, Math.min(1, share / shareLeft));
      left -= here;
      shareLeft = Math.max(1e-12, shareLeft - share);
      this.#serve(now, balancer, cluster, at(this.#entry, i), here, elapsedS);
    }
  }

  /**
   * How many of a step's requests find as many in flight as the balancer allows itself: what was in flight ends at the pace
   * of its host, and what is let in fills the room that is left at the end of the step.
   */
  #beyondLimit(balancer: number, cluster: number, entries: number, offered: number, elapsedS: number): number {
    const { firstHost, hostCount, spec } = this.#fleet;
    const { maxInFlight = null, hosts = [] } = spec.clusters[cluster] ?? {};
    if (maxInFlight === null || offered === 0) return 0;
    const first = balancer * hostCount + at(firstHost, cluster);
    let room = maxInFlight;
    for (let host = 0; host < hosts.length; host += 1) room -= at(this.inFlight, first + host);
    let perRequest = 0;
    for (let i = 0; i < entries; i += 1) {
      const timeS = Math.max(1e-3, at(this.#columns.timeS, i));
      const ended = 1 - Math.exp(-elapsedS / timeS);
      room += at(this.#columns.inFlight, i) * ended;
      perRequest += (at(this.#shares, i) * timeS * ended) / elapsedS;
    }
    if (offered * perRequest <= room) return 0;
    return offered - Math.floor(Math.max(0, room) / perRequest);
  }

  /** The balancer answers with 503. */
  #answerItself(balancer: number, cell: number, count: number): void {
    add(this.#fleet.measures.requests, cell * CLASSES + CLASS.serverError, count);
    this.#recordEdge(balancer, cell, count, at(this.#edge.addedS, balancer));
  }

  /** Writes who may be picked to `#entry` and how often to `#shares`; how many there are. */
  #shareOut(now: number, balancer: number, cluster: number, group: number, elapsedS: number): number {
    const { firstHost, pinned, members, hostCount, hotKeyShare } = this.#fleet;
    const spec = this.#fleet.spec.clusters[cluster] as ClusterSpec;
    const route = this.#fleet.route(balancer, cluster);
    const first = at(firstHost, cluster);
    const connections = pinned[cluster] ?? null;
    let count = 0;
    this.#overflow = 0;
    for (let host = 0; host < spec.hosts.length; host += 1) {
      const isTaken =
        connections === null ? route.isUsable(host) && route.groupOf(host) === group : connections.share(host) > 0;
      if (!isTaken) {
        const isOwn = connections !== null || route.groupOf(host) === group;
        const timeS = at(this.#load.timeS, first + host) + spec.bodyMs / 1000;
        if (isOwn) this.#relax(balancer * hostCount + first + host, 0, timeS, elapsedS);
        continue;
      }
      const member = members[cluster]?.[host];
      this.#entry[count] = host;
      this.#shares[count] = connections?.share(host) ?? 0;
      this.#columns.weight[count] = member?.weight ?? 1;
      this.#columns.timeS[count] = at(this.#load.timeS, first + host);
      this.#columns.inFlight[count] = at(this.inFlight, balancer * hostCount + first + host);
      this.#columns.ageMs[count] = now - (member?.joinedAt ?? 0);
      count += 1;
    }
    if (connections !== null || count === 0) return count;
    const hotShare = at(hotKeyShare, cluster);
    // Which host owns the hot key does not matter to a fluid: it is the first that may be picked.
    const input = { count, ...this.#columns, elapsedS, hotShare, hotHost: 0 };
    this.#overflow = policyShares(spec.policy, input, this.#shares);
    return count;
  }

  #serve(now: number, balancer: number, cluster: number, local: number, offered: number, elapsedS: number): void {
    const { prng, measures, hostCount } = this.#fleet;
    const host = at(this.#fleet.firstHost, cluster) + local;
    const cell = balancer * this.#fleet.clusterCount + cluster;
    const place = balancer * hostCount + host;
    const judged = this.#judge(now, balancer, cluster, local, offered);
    add(this.#carried, cell, offered - judged);
    const spec = this.#fleet.spec.clusters[cluster] as ClusterSpec;
    const count = spec.streams === null ? judged : this.#admit(balancer, cell, host, judged, elapsedS, spec);
    add(this.arrived, host, count);
    this.#relax(place, count / elapsedS, at(this.#load.timeS, host) + spec.bodyMs / 1000, elapsedS);
    if (spec.streams !== null) this.#streams.settle(place, spec.streams, at(this.inFlight, place));
    if (count === 0) return;
    const fast = drawBinomial(prng, count, at(this.#load.fast, host));
    const unanswered = drawBinomial(prng, count - fast, at(this.#load.unanswered, host));
    const answered = count - fast - unanswered;
    const failed = drawBinomial(prng, answered, at(this.#load.failed, host));
    const clientErrors = drawBinomial(prng, answered - failed, spec.clientErrorShare);
    const bad = fast + unanswered + failed;
    const ok = answered - failed - clientErrors;
    add(measures.attempts, place * CLASSES + CLASS.serverError, bad);
    add(measures.attempts, place * CLASSES + CLASS.clientError, clientErrors);
    add(measures.attempts, place * CLASSES + CLASS.ok, ok);
    const saved = this.#retry(spec, cell, count, bad);
    add(measures.requests, cell * CLASSES + CLASS.serverError, bad - saved);
    add(measures.requests, cell * CLASSES + CLASS.clientError, clientErrors);
    add(measures.requests, cell * CLASSES + CLASS.ok, ok + saved);
    add(measures.bytesSent, cell, (ok + saved + clientErrors) * (spec.answerBytes ?? 0));
    this.#recordTimes(balancer, cell, host, { fast, unanswered, answered }, spec);
  }

  /** How many of the requests go over a connection that moves. The others end here. */
  #admit(balancer: number, cell: number, host: number, offered: number, elapsedS: number, spec: ClusterSpec): number {
    const { measures, hostCount } = this.#fleet;
    const place = balancer * hostCount + host;
    const inFlight = at(this.inFlight, place);
    const timeS = at(this.#load.timeS, host) + spec.bodyMs / 1000;
    const { served, timedOut, rejected } = this.#streams.admit(place, spec, offered, { inFlight, timeS, elapsedS });
    add(measures.attempts, place * CLASSES + CLASS.serverError, timedOut);
    add(measures.requests, cell * CLASSES + CLASS.serverError, timedOut + rejected);
    measures.requestDuration.record(cell, spec.timeoutMs / 1000, timedOut);
    this.#recordEdge(balancer, cell, rejected, at(this.#edge.addedS, balancer));
    return served;
  }

  /** Tells the ejector; how many requests the host gets before it is out. */
  #judge(now: number, balancer: number, cluster: number, local: number, offered: number): number {
    const { prng } = this.#fleet;
    const { pool } = this.#fleet.route(balancer, cluster);
    if (pool.outliers === null || offered === 0) return offered;
    const host = at(this.#fleet.firstHost, cluster) + local;
    const share = this.#load.failShare(host);
    if (share >= ROW_SHARE) {
      for (let failure = 1; failure <= Math.min(ROW, offered); failure += 1) {
        const ejection = pool.answered(now, local, true);
        if (ejection === null) continue;
        countEjection(this.#fleet, balancer, cluster, ejection);
        if (ejection.enforced) return failure;
      }
      return offered;
    }
    const failed = offered * share;
    pool.outliers.countAnswers(local, offered, offered - failed);
    // Rows of five start at a success: offered x (1 - p) p^5 of them are expected.
    const isRow = share > 0 && prng.next() < 1 - Math.exp(-offered * (1 - share) * share ** ROW);
    const ejection = isRow ? pool.outliers.sawRow(now, local) : null;
    if (ejection === null) return offered;
    countEjection(this.#fleet, balancer, cluster, ejection);
    if (ejection.enforced) pool.refresh();
    return offered;
  }

  /** In flight follows rate x time, as fast as requests end. */
  #relax(place: number, perS: number, timeS: number, elapsedS: number): void {
    const before = at(this.inFlight, place);
    this.inFlight[place] = before + (perS * timeS - before) * (1 - Math.exp(-elapsedS / Math.max(1e-3, timeS)));
  }

  /**
   * How many of the failed requests a retry saved: within the budget, and if the rest of the pool answers. The attempts
   * of retries are counted as retries only, not against hosts: at most the budget is missing there.
   */
  #retry(spec: ClusterSpec, cell: number, count: number, bad: number): number {
    if (spec.retries === null || bad === 0) return 0;
    const { measures, prng } = this.#fleet;
    const allowed = Math.min(bad, Math.ceil(spec.retries.budget * count));
    const total =
      at(measures.requests, cell * CLASSES + CLASS.ok) + at(measures.requests, cell * CLASSES + CLASS.serverError);
    const okShare = total > 0 ? at(measures.requests, cell * CLASSES + CLASS.ok) / total : 1;
    const saved = drawBinomial(prng, allowed, okShare);
    add(measures.retries, cell * RETRY_OUTCOMES.length + RETRY.attempt, allowed);
    add(measures.retries, cell * RETRY_OUTCOMES.length + RETRY.success, saved);
    add(measures.retries, cell * RETRY_OUTCOMES.length + RETRY.overflow, bad - allowed);
    return saved;
  }

  #recordTimes(
    balancer: number,
    cell: number,
    host: number,
    counts: { readonly fast: number; readonly unanswered: number; readonly answered: number },
    { timeoutMs, bodyMs, streams }: ClusterSpec,
  ): void {
    const timeoutS = timeoutMs / 1000;
    const writeS = WRITE_S + bodyMs / 1000;
    const { measures, hostCount, hosts, spec } = this.#fleet;
    const place = balancer * hostCount + host;
    const addedS = at(this.#edge.addedS, balancer);
    const answerS = at(this.#load.answerS, host);
    const cv = at(this.#load.answerCv, host);
    const fastS = at(hosts.failMs, host) / 1000;
    if (counts.fast > 0) {
      measures.backend.record(place, fastS, counts.fast);
      measures.requestDuration.record(cell, fastS + addedS, counts.fast);
    }
    measures.backend.recordShares(place, latencyWeights(answerS, cv), answerS, counts.answered);
    if (streams !== null) this.#streams.record(place, streams, answerS, cv, counts.answered);
    const wholeS = answerS + addedS + writeS;
    const wholeCv = Math.hypot(answerS * cv, addedS * at(this.#edge.addedCv, balancer), bodyMs / 1000) / wholeS;
    measures.requestDuration.recordShares(cell, latencyWeights(wholeS, wholeCv), wholeS, counts.answered);
    const givenUpS = timeoutS + addedS + WRITE_S;
    if (counts.unanswered > 0) measures.requestDuration.record(cell, givenUpS, counts.unanswered);
    const all = counts.fast + counts.unanswered + counts.answered;
    const isNear = spec.balancers[balancer]?.zone === at(hosts.zone, host);
    const connectS = isNear ? CONNECT_S.near : CONNECT_S.far;
    const connects = drawBinomial(this.#fleet.prng, all, CONNECT_SHARE);
    measures.connect.recordShares(place, latencyWeights(connectS, 0.4), connectS, connects);
    measures.addedDuration.recordShares(cell, latencyWeights(addedS, at(this.#edge.addedCv, balancer)), addedS, all);
    measures.write.recordShares(cell, latencyWeights(writeS, 1), writeS, all);
  }

  /** Requests that the balancer answered itself. */
  #recordEdge(balancer: number, cell: number, count: number, addedS: number): void {
    if (count === 0) return;
    const { measures } = this.#fleet;
    const addedCv = at(this.#edge.addedCv, balancer);
    const wholeS = addedS + WRITE_S;
    const wholeCv = Math.hypot(addedS * addedCv, WRITE_S) / wholeS;
    measures.requestDuration.recordShares(cell, latencyWeights(wholeS, wholeCv), wholeS, count);
    measures.addedDuration.recordShares(cell, latencyWeights(addedS, addedCv), addedS, count);
    measures.write.recordShares(cell, latencyWeights(WRITE_S, 1), WRITE_S, count);
  }
}
