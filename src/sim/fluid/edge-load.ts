import { add, at } from '../columns.ts';
import { drawBinomial } from '../draws.ts';
import type { Fleet } from '../fleet.ts';
import { HANDSHAKE, HANDSHAKE_KINDS } from '../measures.ts';
import { mm1WaitS, overflowShare, waitS } from '../queues/queue-models.ts';
import { CONNECTION_CPU_S, handshakeCpuS, REQUEST_CPU_S, ROUND_TRIPS_TLS } from '../tls/costs.ts';
import { latencyWeights, shareAbove } from './latency-weights.ts';

const RHO_MAX = 0.995;
/** Of a full queue: who is served has waited this share of the clients' limit; variation of that wait. Ours. */
const PATIENCE = 0.8;
const STANDING_CV = 0.05;
/** Clients that were reset come back spread over about this long, s; as in the exact engine. */
const RECONNECT_S = 10;

/** A balancer's edge in a step: accept queue, handshakes, CPU. */
export class EdgeLoad {
  /** (balancer): what waiting for CPU and the CPU itself add to a request, s, and its variation. */
  readonly addedS: Float64Array;
  readonly addedCv: Float64Array;
  /** (balancer): share of requests that find no CPU before the client gives up. */
  readonly lostShare: Float64Array;
  /** (balancer): CPU work that waits, s. */
  readonly backlogS: Float64Array;
  readonly #fleet: Fleet;
  /** Handshakes that failed the first time and come back. */
  readonly #again: Float64Array;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    const column = (): Float64Array => new Float64Array(fleet.balancerCount);
    this.addedS = column();
    this.addedCv = column();
    this.lostShare = column();
    this.backlogS = column();
    this.#again = column();
  }

  /** Whether nothing is left over from before. */
  isQuiet(balancer: number): boolean {
    return (
      at(this.backlogS, balancer) === 0 &&
      at(this.#again, balancer) < 1 &&
      at(this.#fleet.balancers.reconnecting, balancer) < 1
    );
  }

  /** A step of `elapsedS`: `perS` connections and `requestsPerS` requests reach the balancer each second. */
  step(balancer: number, perS: number, requestsPerS: number, elapsedS: number): void {
    const fleet = this.#fleet;
    const { prng, traffic, holders, balancers } = fleet;
    const back = at(balancers.reconnecting, balancer) * (1 - Math.exp(-elapsedS / RECONNECT_S));
    add(balancers.reconnecting, balancer, -back);
    const again = at(this.#again, balancer);
    this.#again[balancer] = 0;
    const first = prng.poisson(perS * elapsedS + back);
    const meanPerS = perS + (back + again) / elapsedS;
    const arrived = this.#accept(balancer, first + prng.poisson(again), meanPerS);
    const fresh = drawBinomial(prng, arrived, traffic.newShare);
    const resumed = drawBinomial(prng, arrived - fresh, fleet.resumableShare());
    const full = arrived - resumed;
    const fullS = handshakeCpuS('full', fleet.keyType) + CONNECTION_CPU_S;
    const resumedS = handshakeCpuS('resumed', fleet.keyType) + CONNECTION_CPU_S;
    const handshakesS = full * fullS + resumed * resumedS;
    const requestS = REQUEST_CPU_S * at(balancers.cpuFactor, balancer);
    const requestsS = requestsPerS * elapsedS * requestS;
    const waitingS = this.#work(
      balancer,
      handshakesS,
      requestsS,
      Math.max(1, arrived) + requestsPerS * elapsedS,
      elapsedS,
    );
    this.addedS[balancer] = waitingS + requestS + at(balancers.addedMs, balancer) / 1000;
    // In a standing queue everybody waits about the same; the wait of a steady one is exponential.
    const standingS = Math.min(waitingS, at(this.backlogS, balancer) / (fleet.spec.balancers[balancer]?.cores ?? 1));
    const deviationS = Math.hypot(waitingS - standingS, STANDING_CV * standingS);
    this.addedCv[balancer] = deviationS / at(this.addedS, balancer);
    const opened = this.#finish(
      balancer,
      full,
      resumed,
      first / Math.max(1, first + again),
      waitingS,
      deviationS,
      fullS,
    );
    holders.returned(arrived - fresh);
    this.#close(balancer, opened, elapsedS);
  }

  /** How many of those that came in this step were accepted; waits follow from the mean rate, not from the draw. */
  #accept(balancer: number, offered: number, meanPerS: number): number {
    const { measures, prng, balancers, spec } = this.#fleet;
    const rate = at(balancers.acceptsPerS, balancer);
    const places = spec.balancers[balancer]?.acceptPlaces ?? 0;
    const rho = meanPerS / rate;
    const turnedAway = drawBinomial(prng, offered, overflowShare(rho, places));
    const waitedS = Math.min(places / rate, mm1WaitS(Math.min(rho, 0.999999), rate));
    const accepted = offered - turnedAway;
    add(measures.acceptOverflows, balancer, turnedAway);
    add(this.#again, balancer, turnedAway);
    measures.acceptQueue.recordShares(balancer, latencyWeights(waitedS, 1), waitedS, accepted);
    // Of k visits to an M/M/1 queue the longest is about ln k / -ln rho.
    const longest = rho > 0 && offered > 0 ? Math.log(offered + 1) / -Math.log(Math.min(rho, 0.999999)) : 0;
    const most = Math.min(places, Math.round(longest));
    measures.acceptQueueMax[balancer] = Math.max(at(measures.acceptQueueMax, balancer), most);
    return accepted;
  }

  /** Puts the step's work on the cores; the mean wait for one, s. */
  #work(balancer: number, handshakesS: number, requestsS: number, jobs: number, elapsedS: number): number {
    const { spec, measures } = this.#fleet;
    const cores = spec.balancers[balancer]?.cores ?? 1;
    const offeredS = handshakesS + requestsS;
    const before = at(this.backlogS, balancer);
    const grown = Math.max(0, before + offeredS - cores * elapsedS);
    // Nobody waits longer than clients do: what is older has been given up.
    const limitS = PATIENCE * (spec.clients.handshakeTimeoutMs / 1000) * cores;
    this.lostShare[balancer] = grown > limitS && offeredS > 0 ? Math.min(1, (grown - limitS) / offeredS) : 0;
    this.backlogS[balancer] = Math.min(limitS, grown);
    add(measures.cpuS, balancer, Math.min(cores * elapsedS, before + offeredS));
    const rho = Math.min(RHO_MAX, offeredS / (cores * elapsedS));
    const steadyS = waitS(rho, cores, offeredS / jobs, spec.tls.burstiness);
    // Above capacity the formula of the steady state says nothing; the standing queue is what one waits in.
    return Math.max(steadyS, (before + at(this.backlogS, balancer)) / 2 / cores);
  }

  #finish(
    balancer: number,
    full: number,
    resumed: number,
    firstShare: number,
    waitingS: number,
    deviationS: number,
    costS: number,
  ): number {
    const fleet = this.#fleet;
    const { measures, prng, spec } = fleet;
    const limitS = spec.clients.handshakeTimeoutMs / 1000;
    const durationS = waitingS + costS + (ROUND_TRIPS_TLS * spec.clients.roundTripMs) / 1000;
    const cv = deviationS / durationS;
    const lost = Math.max(at(this.lostShare, balancer), shareAbove(limitS, durationS, cv));
    const failedFull = drawBinomial(prng, full, lost);
    const failedResumed = drawBinomial(prng, resumed, lost);
    const failed = failedFull + failedResumed;
    const opened = full + resumed - failed;
    const kinds = balancer * HANDSHAKE_KINDS.length;
    add(measures.handshakes, kinds + HANDSHAKE.full, full - failedFull);
    add(measures.handshakes, kinds + HANDSHAKE.resumed, resumed - failedResumed);
    add(measures.handshakes, kinds + HANDSHAKE.failed, failed);
    if (spec.ownListeners) {
      this.#share(balancer, HANDSHAKE.full, full - failedFull);
      this.#share(balancer, HANDSHAKE.resumed, resumed - failedResumed);
      this.#share(balancer, HANDSHAKE.failed, failed);
    }
    measures.tls.recordShares(balancer, latencyWeights(durationS, cv), durationS, opened);
    measures.tls.record(balancer, limitS, failed);
    add(measures.connectionsOpened, balancer, opened);
    // A client tries twice; the second time it is missing.
    add(this.#again, balancer, failed * firstShare);
    add(fleet.balancers.missing, balancer, failed * (1 - firstShare));
    return opened;
  }

  /** Handshakes of one kind by the services that they were for. */
  #share(balancer: number, kind: number, count: number): void {
    const { measures, prng, traffic, clusterCount, balancers } = this.#fleet;
    const shares = this.#fleet.serviceShares(kind);
    let [left, rest] = [count, 1];
    let open = at(balancers.connections, balancer);
    traffic.services.forEach((_, cluster) => {
      const share = shares[cluster] ?? 0;
      const own =
        cluster === clusterCount - 1 ? left : drawBinomial(prng, left, rest > 0 ? Math.min(1, share / rest) : 0);
      left -= own;
      rest -= share;
      const cell = balancer * clusterCount + cluster;
      add(measures.serviceHandshakes, cell * HANDSHAKE_KINDS.length + kind, own);
      if (kind === HANDSHAKE.failed) return;
      add(measures.serviceConnections, cell, own);
      this.#fleet.opened(balancer, cluster, own, open);
      open += own;
    });
  }

  /** Of those that were open, and of those that opened within the step, some have ended by its end. */
  #close(balancer: number, opened: number, elapsedS: number): void {
    const { balancers, prng, spec } = this.#fleet;
    const lives = (elapsedS * 1000) / spec.clients.connectionLifeMs;
    const ended = 1 - Math.exp(-lives);
    const before = at(balancers.connections, balancer);
    const closed = drawBinomial(prng, before, ended);
    const closedNew = drawBinomial(prng, opened, 1 - ended / lives);
    add(balancers.connections, balancer, opened - closed - closedNew);
    this.#fleet.held(balancer, (before + at(balancers.connections, balancer)) / 2, elapsedS);
    const left = at(balancers.missing, balancer) * (1 - ended);
    balancers.missing[balancer] = left < 0.5 ? 0 : left;
  }
}
