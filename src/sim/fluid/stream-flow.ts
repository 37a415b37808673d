import { add, at } from '../columns.ts';
import { drawBinomial } from '../draws.ts';
import type { Fleet } from '../fleet.ts';
import type { ClusterSpec } from '../fleet-spec.ts';
import { latencyWeights } from './latency-weights.ts';

type StreamSpec = NonNullable<ClusterSpec['streams']>;

/** What became of requests to a host before it saw them. */
export interface Admitted {
  /** Go over a connection that moves. */
  readonly served: number;
  /** Ended by their time-out on one that stands still. */
  readonly timedOut: number;
  /** No connection had a place. */
  readonly rejected: number;
}

const mutable = { served: 0, timedOut: 0, rejected: 0 };

/** Streams of a step, by balancer and host. All connections carry as many, also those that stand still. */
export class StreamFlow {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /**
   * Of `offered` requests within `elapsedS`, which take `timeS`; `inFlight` = mean of those that move. The answer is good
   * until the next call.
   */
  admit(
    place: number,
    spec: ClusterSpec,
    offered: number,
    { inFlight, timeS, elapsedS }: { readonly inFlight: number; readonly timeS: number; readonly elapsedS: number },
  ): Admitted {
    const { prng, streams, measures } = this.#fleet;
    const { connections, perConnection } = spec.streams ?? { connections: 1, perConnection: 1 };
    const stalled = this.#stalledAt(place);
    const moving = connections - stalled;
    const each = moving === 0 ? perConnection : Math.min(perConnection, inFlight / moving);
    mutable.timedOut = 0;
    let blocked = 0;
    for (let connection = 0; connection < stalled; connection += 1) {
      const index = streams.indexOf(place, connection);
      const before = at(streams.active, index);
      const ended = drawBinomial(prng, before, Math.min(1, (elapsedS * 1000) / spec.timeoutMs));
      const entered = Math.min(offered - blocked, Math.max(0, Math.round(each) - before + ended));
      streams.set(index, before - ended + entered);
      measures.streamDuration.record(index, spec.timeoutMs / 1000, ended);
      mutable.timedOut += ended;
      blocked += entered;
    }
    // Little's law: more than fit at a time find no place.
    const wanted = ((offered - blocked) / elapsedS) * timeS;
    const over = wanted > 0 ? Math.max(0, 1 - (moving * perConnection) / wanted) : 0;
    mutable.rejected = over > 0 ? drawBinomial(prng, offered - blocked, over) : 0;
    add(measures.streamsRejected, place, mutable.rejected);
    mutable.served = offered - blocked - mutable.rejected;
    return mutable;
  }

  /** So many are in flight now on the connections that move. */
  settle(place: number, { connections, perConnection }: StreamSpec, inFlight: number): void {
    const { streams } = this.#fleet;
    const stalled = this.#stalledAt(place);
    const each = Math.round(Math.min(perConnection, inFlight / Math.max(1, connections - stalled)));
    for (let connection = stalled; connection < connections; connection += 1) {
      streams.set(streams.indexOf(place, connection), each);
    }
  }

  /** Answers spread evenly over the connections that move. */
  record(place: number, { connections }: StreamSpec, answerS: number, cv: number, answered: number): void {
    const { streams, measures } = this.#fleet;
    const stalled = this.#stalledAt(place);
    let left = answered;
    for (let connection = stalled; connection < connections; connection += 1) {
      const here = Math.round(left / (connections - connection));
      left -= here;
      const index = streams.indexOf(place, connection);
      measures.streamDuration.recordShares(index, latencyWeights(answerS, cv), answerS, here);
    }
  }

  /** They are the first ones. */
  #stalledAt(place: number): number {
    const { streams } = this.#fleet;
    let count = 0;
    while (count < streams.width && streams.isStalled(streams.indexOf(place, count))) count += 1;
    return count;
  }
}
