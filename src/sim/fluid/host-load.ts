import { add, at } from '../columns.ts';
import { type Fleet, REACH } from '../fleet.ts';
import type { PolicyName } from '../policies/create-policy.ts';
import { waitS } from '../queues/queue-models.ts';
import { shareAbove } from './latency-weights.ts';

/** Above this utilisation the queue is followed by its backlog, not by the steady state's formula. */
const RHO_MAX = 0.98;

/** What a request to each host meets now, in columns over the whole fleet. */
export class HostLoad {
  /** Share answered 503 without work, in `failMs`. */
  readonly fast: Float64Array;
  /** Share that never became an answer of the host: refused, turned away, timed out. */
  readonly unanswered: Float64Array;
  /** Share of the rest that fails: dependency, errors of its own. */
  readonly failed: Float64Array;
  /** Mean and variation of what the rest takes, s. */
  readonly answerS: Float64Array;
  readonly answerCv: Float64Array;
  /** Mean over all of it, s. */
  readonly timeS: Float64Array;
  /** Work waiting, s. */
  readonly backlogS: Float64Array;
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    const column = (): Float64Array => new Float64Array(fleet.hostCount);
    this.fast = column();
    this.unanswered = column();
    this.failed = column();
    this.answerS = column();
    this.answerCv = column();
    this.timeS = column();
    this.backlogS = column();
    for (let host = 0; host < fleet.hostCount; host += 1) this.settle(host, 0, 0, 0);
  }

  /** A step of `elapsedS` ends, in which the host got `perS` requests a second. */
  settle(host: number, perS: number, elapsedS: number, now: number): void {
    const { hosts, spec, dependencies } = this.#fleet;
    const cluster = spec.clusters[at(hosts.cluster, host)];
    if (cluster === undefined) return;
    const dependency = cluster.dependency === null ? undefined : dependencies[cluster.dependency];
    const timeoutS = cluster.timeoutMs / 1000;
    const hang = dependency?.hangShare ?? 0;
    const baseS = (at(hosts.serviceMs, host) * this.#fleet.slowness(host, now)) / 1000;
    const dependencyS = (dependency?.serviceMs ?? 0) / 1000;
    const workS = baseS + dependencyS * (1 - hang) + timeoutS * hang;
    const slots = this.#fleet.slots(host);
    const reach = at(hosts.reach, host);
    this.fast[host] = reach === REACH.up ? at(hosts.failShare, host) : 0;
    const worked = perS * (1 - at(this.fast, host)) * (reach === REACH.up ? 1 : 0);
    const limitS = (at(hosts.queueMs, host) / 1000) * slots;
    const grown = Math.max(0, at(this.backlogS, host) + (worked * workS - slots) * elapsedS);
    // What does not fit into the queue any more is turned away.
    const away = grown > limitS && worked > 0 ? Math.min(1, (grown - limitS) / (worked * workS * elapsedS)) : 0;
    this.backlogS[host] = Math.min(limitS, grown);
    const rho = Math.min(RHO_MAX, (worked * workS) / slots);
    const spread = at(hosts.spread, host);
    const queueS =
      waitS(rho, slots, workS, (gaps(cluster.policy, cluster.hosts.length) + spread * spread) / 2) +
      at(this.backlogS, host) / slots;
    const answerS = 0.0003 + baseS + dependencyS + queueS;
    const cv = Math.hypot(baseS * spread, dependencyS * 0.5, queueS) / answerS;
    const late = hang + (1 - hang) * shareAbove(timeoutS, answerS, cv);
    add(this.#fleet.measures.hostBusyS, host, Math.min(slots, worked * workS) * elapsedS);
    this.answerS[host] = answerS;
    this.answerCv[host] = cv;
    this.unanswered[host] = reach === REACH.up ? 1 - (1 - away) * (1 - late) : 1;
    this.failed[host] = 1 - (1 - (dependency?.failShare ?? 0)) * (1 - cluster.errorShare);
    const downS = reach === REACH.refused ? 0.001 : timeoutS;
    const ranS = (1 - away) * ((1 - late) * answerS + late * timeoutS) + away * 0.001;
    const fast = at(this.fast, host);
    this.timeS[host] = reach === REACH.up ? fast * (at(hosts.failMs, host) / 1000) + (1 - fast) * ranS : downS;
  }

  /** Share of all requests to the host that fail. */
  failShare(host: number): number {
    const fast = at(this.fast, host);
    return fast + (1 - fast) * (1 - (1 - at(this.unanswered, host)) * (1 - at(this.failed, host)));
  }
}

/**
 * Squared variation of the gaps between a host's requests. Hashing sends what comes, Poisson: 1. In turn over n hosts
 * every gap is the sum of n: 1/n. Policies that see load send a request when there is room, which is calmer still
 * (figures of both: fitted to the exact engine).
 */
function gaps(policy: PolicyName, hosts: number): number {
  switch (policy) {
    case 'round-robin':
    case 'weighted-round-robin':
      return 1 / hosts;
    case 'two-choices':
      return 0.25;
    case 'least-connections':
    case 'weighted-least-connections':
      return 0;
    default:
      return 1;
  }
}
