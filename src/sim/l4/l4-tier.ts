import { hashOf } from '../policies/hash.ts';
import { MaglevTable } from '../policies/maglev.ts';

/** How the network picks a node for a flow, and a node a balancer. */
export type L4Hashing = 'maglev' | 'mod';

export interface L4Settings {
  readonly hashing: L4Hashing;
  /** Nodes remember where they sent each flow. */
  readonly tracking: boolean;
}

/** What a change of nodes or balancers did to the flows, as shares of all. */
export interface L4Change {
  /** Now arrive at another node. */
  readonly moved: number;
  /** Arrive at a node that does not know them. */
  readonly misses: number;
  /** Arrive at a balancer that has no such connection, and are reset. */
  readonly resets: number;
}

/**
 * The tier in front of the balancers. The network spreads flows over its nodes, each node spreads them over balancers.
 *
 * `mod` is the contrast: flow hash modulo nodes, and every node hashes to balancers in a way of its own. From 8 to 10
 * nodes only flows with the same remainder stay, 8 of 40: 80 % move, find another balancer and are reset.
 * `maglev`: all nodes share one table of balancers, so a flow that arrives at a node which does not know it is sent to
 * the same balancer anyway; with tracking, a node that knows it keeps its balancer when the table changes. Reset are
 * only flows that moved, or were not tracked, AND whose slot of the table changed hands: below 1 %.
 *
 * A sample of flows stands for all of them.
 */
export class L4Tier {
  readonly #settings: L4Settings;
  readonly #hashes: Uint32Array;
  readonly #node: Int32Array;
  readonly #balancer: Int32Array;
  #nodes: number;
  #balancers: readonly number[];
  #nodeTable: MaglevTable;
  #table: MaglevTable;

  constructor(settings: L4Settings, nodes: number, balancers: readonly number[], flows = 20_000) {
    this.#settings = settings;
    this.#nodes = nodes;
    this.#balancers = [...balancers];
    this.#nodeTable = tableOf(Array.from({ length: nodes }, (_, node) => node));
    this.#table = tableOf(balancers);
    this.#hashes = Uint32Array.from({ length: flows }, (_, flow) => hashOf(flow, 0));
    this.#node = Int32Array.from(this.#hashes, (hash) => this.#nodeOf(hash));
    this.#balancer = Int32Array.from(this.#hashes, (hash, flow) => this.#choose(hash, this.#node[flow] ?? 0));
  }

  get nodes(): number {
    return this.#nodes;
  }

  /** The balancer of a new flow with this hash. */
  balancerOf(hash: number): number {
    return this.#choose(hash, this.#nodeOf(hash));
  }

  /** Share of new flows that each balancer gets. */
  shares(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>(this.#balancers.map((balancer) => [balancer, 0]));
    if (this.#settings.hashing === 'mod') {
      return new Map(this.#balancers.map((balancer) => [balancer, 1 / this.#balancers.length]));
    }
    for (let slot = 0; slot < this.#table.slots; slot += 1) {
      const balancer = this.#table.hostAt(slot);
      counts.set(balancer, (counts.get(balancer) ?? 0) + 1);
    }
    return new Map([...counts].map(([balancer, count]) => [balancer, count / this.#table.slots]));
  }

  nodesChanged(nodes: number): L4Change {
    this.#nodes = nodes;
    this.#nodeTable = tableOf(Array.from({ length: nodes }, (_, node) => node));
    return this.#settle();
  }

  balancersChanged(balancers: readonly number[]): L4Change {
    this.#balancers = [...balancers];
    this.#table = tableOf(balancers);
    return this.#settle();
  }

  /** Nodes and balancers at once. */
  changed(nodes: number, balancers: readonly number[]): L4Change {
    this.#balancers = [...balancers];
    this.#table = tableOf(balancers);
    return this.nodesChanged(nodes);
  }

  #settle(): L4Change {
    const alive = new Set(this.#balancers);
    let [moved, misses, resets] = [0, 0, 0];
    for (let flow = 0; flow < this.#hashes.length; flow += 1) {
      const hash = this.#hashes[flow] ?? 0;
      const node = this.#nodeOf(hash);
      const hasMoved = node !== this.#node[flow];
      const isMissed = hasMoved || !this.#settings.tracking;
      const before = this.#balancer[flow] ?? -1;
      const after = isMissed || !alive.has(before) ? this.#choose(hash, node) : before;
      if (hasMoved) moved += 1;
      if (isMissed) misses += 1;
      if (after !== before) resets += 1;
      this.#node[flow] = node;
      this.#balancer[flow] = after;
    }
    const flows = this.#hashes.length;
    return { moved: moved / flows, misses: misses / flows, resets: resets / flows };
  }

  #nodeOf(hash: number): number {
    return this.#settings.hashing === 'mod' ? hash % this.#nodes : this.#nodeTable.hostAt(this.#nodeTable.locate(hash));
  }

  #choose(hash: number, node: number): number {
    if (this.#settings.hashing === 'maglev') return this.#table.hostAt(this.#table.locate(hashOf(hash, 1)));
    return this.#balancers[hashOf(hash, node + 2) % this.#balancers.length] ?? -1;
  }
}

const tableOf = (members: readonly number[]): MaglevTable =>
  new MaglevTable(members.map((host) => ({ host, weight: 1, joinedAt: 0 })));
