import { add, at } from '../columns.ts';
import { drawBinomial, drawExponential } from '../draws.ts';
import type { Fleet } from '../fleet.ts';
import { HANDSHAKE, HANDSHAKE_KINDS } from '../measures.ts';
import { CONNECTION_CPU_S, handshakeCpuS, ROUND_TRIPS_TLS } from '../tls/costs.ts';
import { EVENT, type EventQueue } from './event-queue.ts';
import { Servers } from './servers.ts';

/** Clients that were reset come back spread over about this long, ms. Ours. */
export const RECONNECT_MS = 10_000;
/** A client turned away by a full accept queue tries again after this long, ms: the first SYN retransmission. */
const SYN_RETRY_MS = 1000;
const TRIES_MAX = 2;

/** New connections: accept queue, handshake on the balancer's CPU, then open until their life ends. */
export class Connections {
  readonly #fleet: Fleet;
  readonly #events: EventQueue;
  readonly #cores: readonly Servers[];
  readonly #acceptors: readonly Servers[];

  constructor(fleet: Fleet, events: EventQueue, cores: readonly Servers[]) {
    this.#fleet = fleet;
    this.#events = events;
    this.#cores = cores;
    this.#acceptors = cores.map(() => new Servers(1));
  }

  /** A client connects, for the first time or again (`tries` before this one). */
  connect(now: number, tries: number): void {
    const { prng, measures, balancers } = this.#fleet;
    const balancer = this.#fleet.connectingBalancer();
    const acceptor = this.#acceptors[balancer];
    if (acceptor === undefined) return;
    const waitMs = acceptor.wait(now);
    const ratePerMs = at(balancers.acceptsPerS, balancer) / 1000;
    const waiting = waitMs * ratePerMs;
    measures.acceptQueueMax[balancer] = Math.max(at(measures.acceptQueueMax, balancer), Math.round(waiting));
    if (waiting >= (this.#fleet.spec.balancers[balancer]?.acceptPlaces ?? 0)) {
      add(measures.acceptOverflows, balancer, 1);
      this.#tryAgain(now + SYN_RETRY_MS, balancer, tries);
      return;
    }
    acceptor.take(now, drawExponential(prng, 1 / ratePerMs));
    measures.acceptQueue.record(balancer, waitMs / 1000);
    this.#events.schedule(now + waitMs, EVENT.accepted, balancer, tries);
  }

  /** The balancer took the connection from its queue: the handshake begins. */
  accepted(now: number, balancer: number, tries: number): void {
    const fleet = this.#fleet;
    const { prng, measures, holders, traffic } = fleet;
    const isNew = prng.next() < traffic.newShare;
    const kind = !isNew && prng.next() < fleet.resumableShare() ? 'resumed' : 'full';
    const costMs = (handshakeCpuS(kind, fleet.keyType) + CONNECTION_CPU_S) * 1000;
    const done = this.#cores[balancer]?.take(now, costMs) ?? now;
    add(measures.cpuS, balancer, costMs / 1000);
    const tlsMs = done - now + ROUND_TRIPS_TLS * fleet.spec.clients.roundTripMs;
    const limitMs = fleet.spec.clients.handshakeTimeoutMs;
    measures.tls.record(balancer, Math.min(limitMs, tlsMs) / 1000);
    if (tlsMs > limitMs) {
      add(measures.handshakes, balancer * HANDSHAKE_KINDS.length + HANDSHAKE.failed, 1);
      this.#ofService(balancer, HANDSHAKE.failed);
      this.#tryAgain(now + limitMs, balancer, tries);
      return;
    }
    add(measures.handshakes, balancer * HANDSHAKE_KINDS.length + HANDSHAKE[kind], 1);
    this.#ofService(balancer, HANDSHAKE[kind]);
    add(measures.connectionsOpened, balancer, 1);
    add(fleet.balancers.connections, balancer, 1);
    if (!isNew) holders.returned(1);
  }

  /** Counts a handshake for the service that it was for, where services have listeners of their own. */
  #ofService(balancer: number, kind: number): void {
    const { measures, prng, spec, clusterCount } = this.#fleet;
    if (!spec.ownListeners) return;
    let left = prng.next();
    let cluster = -1;
    for (const share of this.#fleet.serviceShares(kind)) {
      cluster += 1;
      left -= share;
      if (left < 0) break;
    }
    const cell = balancer * clusterCount + cluster;
    add(measures.serviceHandshakes, cell * HANDSHAKE_KINDS.length + kind, 1);
    if (kind === HANDSHAKE.failed) return;
    add(measures.serviceConnections, cell, 1);
    this.#fleet.opened(balancer, cluster, 1, at(this.#fleet.balancers.connections, balancer));
  }

  /** Connections whose life ended within the second, and clients that come back. */
  second(now: number): void {
    const fleet = this.#fleet;
    const ended = 1 - Math.exp(-1000 / fleet.spec.clients.connectionLifeMs);
    for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
      const { connections, missing, reconnecting } = fleet.balancers;
      fleet.held(balancer, at(connections, balancer), 1);
      add(connections, balancer, -drawBinomial(fleet.prng, at(connections, balancer), ended));
      missing[balancer] = at(missing, balancer) * (1 - ended);
      const back = drawBinomial(fleet.prng, at(reconnecting, balancer), 1 - Math.exp(-1000 / RECONNECT_MS));
      add(reconnecting, balancer, -back);
      for (let client = 0; client < back; client += 1) {
        this.#events.schedule(now + 1000 * fleet.prng.next(), EVENT.connect, -1, 0);
      }
    }
  }

  #tryAgain(when: number, balancer: number, tries: number): void {
    if (tries + 1 < TRIES_MAX) this.#events.schedule(when, EVENT.connect, -1, tries + 1);
    else add(this.#fleet.balancers.missing, balancer, 1);
  }
}
