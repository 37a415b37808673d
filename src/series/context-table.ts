import { equalBytes } from '../base/equal-bytes.ts';
import type { Staging } from '../otlp/staging.ts';
import { decodeAttributes, decodeScope, decodeText } from './attribute-reader.ts';
import type { Attributes, SeriesDescription } from './binding.ts';
import { ByteArena, type HashRange, hashText } from './bytes.ts';
import { HashIndex } from './hash-index.ts';
import { attributesKey, balancerOf, type Sender } from './identity.ts';
import { ResourceState } from './resource-state.ts';

/** A resource and scope of one balancer, decoded once. */
export interface Context {
  readonly id: number;
  readonly resource: Attributes;
  readonly scope: SeriesDescription['scope'];
  readonly balancer: string;
  readonly state: ResourceState;
  /** The scope is a scraper's: start times are the scraper's, first values hold history. */
  readonly isScraped: boolean;
  /** Newest accepted point of the request in hand, where the receiver's clock places it. */
  newestAt: number;
}

/** As sent: the bytes of resource, scope and schema URL one behind the other, and who sent them. */
interface RawContext {
  readonly from: number;
  readonly resourceLength: number;
  readonly scopeLength: number;
  readonly schemaLength: number;
  readonly sender: string;
  readonly context: Context;
  next: number;
}

export interface ContextsState {
  readonly raw: readonly {
    readonly resource: Uint8Array;
    readonly scope: Uint8Array;
    readonly schema: Uint8Array;
    readonly peer: string;
    readonly identityHeader: string | null;
  }[];
  readonly resources: readonly Pick<
    ResourceState,
    'key' | 'flushFrom' | 'newest' | 'prior' | 'first' | 'startsAtFlush'
  >[];
}

/** Scopes of receivers that scrape (their Go module paths and the names that they replace). */
const SCRAPING_SCOPES = /(prometheus|haproxy|nginx(plus)?|apache|iis|traefik|envoy|httpcheck|hostmetrics)receiver/i;
const RESOURCE_ATTRIBUTES = 0x0a;
/** What is remembered of contexts as sent, all together: a long resource counts once per scope. */
const BYTES_MAX = 128 * 1024 * 1024;

/** Finds contexts by their bytes; several layouts of one resource, scope and balancer are one context. */
export class ContextTable {
  readonly #hash: HashRange;
  readonly #arena = new ByteArena();
  readonly #index = new HashIndex();
  readonly #raw: RawContext[] = [];
  readonly #senders: Sender[] = [];
  readonly #byKey = new Map<string, Context>();
  readonly #contexts: Context[] = [];
  readonly #resources = new Map<string, ResourceState>();
  readonly #resourceIds = new Map<ResourceState, number>();
  #last = -1;
  /** The resource hashed last, which the scopes of one ResourceMetrics share. */
  readonly #hashed = { bytes: new Uint8Array(0) as Uint8Array, from: 0, to: 0, sender: '', hash: 0 };

  constructor(hash: HashRange) {
    this.#hash = hash;
  }

  /** Number of raw contexts. */
  get size(): number {
    return this.#raw.length;
  }

  get isFull(): boolean {
    return this.#arena.length >= BYTES_MAX;
  }

  get(id: number): Context {
    return this.#contexts[id] as Context;
  }

  /** The context of a ScopeMetrics; null where it is unknown and `mayAdd` is false. Throws UnreadableAttributes. */
  find(staging: Staging, index: number, sender: Sender, senderKey: string, mayAdd: boolean): Context | null {
    const last = this.#raw[this.#last];
    if (last !== undefined && last.next >= 0 && this.#matches(last.next, staging, index, senderKey)) {
      this.#last = last.next;
      return (this.#raw[last.next] as RawContext).context;
    }
    const hash = this.#hashOf(staging, index, senderKey);
    let slot = this.#index.first(hash);
    while (slot >= 0 && !this.#matches(this.#index.rowAt(slot), staging, index, senderKey)) {
      slot = this.#index.next(slot, hash);
    }
    if (slot < 0 && !mayAdd) return null;
    const row = slot >= 0 ? this.#index.rowAt(slot) : this.#add(staging, index, sender, senderKey, hash);
    if (last !== undefined) last.next = row;
    this.#last = row;
    return (this.#raw[row] as RawContext).context;
  }

  snapshot(): ContextsState {
    const { bytes } = this.#arena;
    return {
      raw: this.#raw.map(({ from, resourceLength, scopeLength, schemaLength }, row) => {
        const scopeFrom = from + resourceLength;
        const schemaFrom = scopeFrom + scopeLength;
        return {
          resource: bytes.slice(from, scopeFrom),
          scope: bytes.slice(scopeFrom, schemaFrom),
          schema: bytes.slice(schemaFrom, schemaFrom + schemaLength),
          ...(this.#senders[row] as Sender),
        };
      }),
      resources: [...this.#resources.values()].map(({ key, flushFrom, newest, prior, first, startsAtFlush }) => ({
        ...{ key, flushFrom, newest, prior, first, startsAtFlush },
      })),
    };
  }

  /** Into an empty table. Contexts get the numbers that they had. */
  restore(state: ContextsState, staging: Staging): void {
    for (const { resource, scope, schema, peer, identityHeader } of state.raw) {
      const schemaFrom = resource.length + scope.length;
      const bytes = new Uint8Array(schemaFrom + schema.length);
      bytes.set(resource);
      bytes.set(scope, resource.length);
      bytes.set(schema, schemaFrom);
      staging.reset(bytes);
      const index = staging.addContext();
      staging.resourceFrom[index] = 0;
      staging.resourceTo[index] = staging.scopeFrom[index] = resource.length;
      staging.scopeTo[index] = staging.schemaFrom[index] = schemaFrom;
      staging.schemaTo[index] = bytes.length;
      const sender = { peer, identityHeader };
      this.find(staging, index, sender, senderKeyOf(sender), true);
    }
    for (const { key, ...times } of state.resources) Object.assign(this.#resource(key), times);
  }

  #matches(row: number, staging: Staging, index: number, sender: string): boolean {
    const raw = this.#raw[row] as RawContext;
    const { view } = this.#arena;
    const [resourceFrom, scopeFrom] = [staging.resourceFrom[index] as number, staging.scopeFrom[index] as number];
    const schemaFrom = staging.schemaFrom[index] as number;
    const { from, resourceLength, scopeLength, schemaLength } = raw;
    return (
      resourceLength === (staging.resourceTo[index] as number) - resourceFrom &&
      scopeLength === (staging.scopeTo[index] as number) - scopeFrom &&
      schemaLength === (staging.schemaTo[index] as number) - schemaFrom &&
      raw.sender === sender &&
      equalBytes(view, from, staging.view, resourceFrom, resourceLength) &&
      equalBytes(view, from + resourceLength, staging.view, scopeFrom, scopeLength) &&
      equalBytes(view, from + resourceLength + scopeLength, staging.view, schemaFrom, schemaLength)
    );
  }

  #hashOf(staging: Staging, index: number, sender: string): number {
    const { view, resourceFrom, resourceTo, scopeFrom, scopeTo, schemaFrom, schemaTo } = staging;
    const hashed = this.#hashed;
    const [from, to] = [resourceFrom[index] as number, resourceTo[index] as number];
    if (hashed.bytes !== staging.bytes || hashed.from !== from || hashed.to !== to || hashed.sender !== sender) {
      hashed.hash = this.#hash(hashText(sender), view, from, to);
      hashed.bytes = staging.bytes;
      hashed.from = from;
      hashed.to = to;
      hashed.sender = sender;
    }
    const hash = this.#hash(hashed.hash, view, scopeFrom[index] as number, scopeTo[index] as number);
    return this.#hash(hash, view, schemaFrom[index] as number, schemaTo[index] as number);
  }

  #add(staging: Staging, index: number, sender: Sender, senderKey: string, hash: number): number {
    const { bytes } = staging;
    const [resourceFrom, resourceTo] = [staging.resourceFrom[index] as number, staging.resourceTo[index] as number];
    const [scopeFrom, scopeTo] = [staging.scopeFrom[index] as number, staging.scopeTo[index] as number];
    const [schemaFrom, schemaTo] = [staging.schemaFrom[index] as number, staging.schemaTo[index] as number];
    const resource = decodeAttributes(bytes, resourceFrom, resourceTo, RESOURCE_ATTRIBUTES);
    const schema = decodeText(bytes, schemaFrom, schemaTo);
    const context = this.#canonical(resource, decodeScope(bytes, scopeFrom, scopeTo), schema, sender);
    const raw: RawContext = {
      from: this.#arena.append(bytes, resourceFrom, resourceTo),
      resourceLength: resourceTo - resourceFrom,
      scopeLength: scopeTo - scopeFrom,
      schemaLength: schemaTo - schemaFrom,
      sender: senderKey,
      context,
      next: -1,
    };
    this.#arena.append(bytes, scopeFrom, scopeTo);
    this.#arena.append(bytes, schemaFrom, schemaTo);
    const row = this.#raw.push(raw) - 1;
    this.#senders.push({ peer: sender.peer, identityHeader: sender.identityHeader });
    this.#index.add(row, hash);
    return row;
  }

  #canonical(resource: Attributes, scope: SeriesDescription['scope'], schema: string, sender: Sender): Context {
    const balancer = balancerOf(resource, sender);
    const resourceKey = JSON.stringify([attributesKey(resource), balancer.own ? '' : balancer.id]);
    const state = this.#resource(resourceKey);
    const resourceId = this.#resourceIds.get(state);
    const key = JSON.stringify([resourceId, scope.name, scope.version, attributesKey(scope.attributes), schema]);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const context: Context = {
      id: this.#contexts.length,
      resource,
      scope,
      balancer: balancer.id,
      state,
      isScraped: SCRAPING_SCOPES.test(scope.name),
      newestAt: Number.NEGATIVE_INFINITY,
    };
    this.#contexts.push(context);
    this.#byKey.set(key, context);
    return context;
  }

  #resource(key: string): ResourceState {
    const state = this.#resources.get(key) ?? new ResourceState(key);
    this.#resources.set(key, state);
    if (!this.#resourceIds.has(state)) this.#resourceIds.set(state, this.#resourceIds.size);
    return state;
  }
}

/** One text per sender. */
export const senderKeyOf = ({ peer, identityHeader }: Sender): string => JSON.stringify([peer, identityHeader ?? '']);
