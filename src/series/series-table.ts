import type { EpochMs } from '../base/units.ts';
import { epochMs } from '../base/units.ts';
import { KIND_EXPONENTIAL_HISTOGRAM, KIND_GAUGE, KIND_HISTOGRAM, KIND_SUM, type Staging } from '../otlp/staging.ts';
import type { Attributes, BalancerListener, Binder, PointKind, SeriesDescription, Temporality } from './binding.ts';
import { attributesKey, balancerOf, decodeAttributes, decodeText, UnreadableAttributes } from './identity.ts';
import { LayoutTable } from './layout-table.ts';
import { ResourceState, Series, type SeriesValues } from './series.ts';

/** A series as a snapshot holds it: what it is and what was last received. Bindings are made anew. */
export interface SeriesState {
  readonly key: string;
  readonly description: SeriesDescription;
  readonly values: SeriesValues;
  readonly resource: { readonly key: string; readonly newest: number; readonly prior: number };
}

/** A resource and scope of one sender, decoded once. */
interface Context {
  readonly id: number;
  readonly resource: Attributes;
  readonly scope: SeriesDescription['scope'];
  readonly balancer: string;
  readonly state: ResourceState;
  /** Canonical text of resource, balancer and scope. */
  readonly key: string;
}

const RESOURCE_ATTRIBUTES = 0x0a;
const SCOPE_ATTRIBUTES = 0x1a;
const NUMBER_ATTRIBUTES = 0x3a;
const HISTOGRAM_ATTRIBUTES = 0x4a;
const EXPONENTIAL_ATTRIBUTES = 0x0a;

const bytesAsText = new TextDecoder('latin1');

/** From the bytes of a point to its series. Known bytes cost a comparison; new ones are decoded and bound. */
export class SeriesTable {
  #binder: Binder;
  readonly #layouts = new LayoutTable();
  readonly #series = new Map<string, Series>();
  readonly #resources = new Map<string, ResourceState>();
  readonly #contexts = new Map<string, Context>();
  /** Contexts of the request in hand, by their number in the staging; null = its resource cannot be read. */
  #current: (Context | null)[] = [];
  /** Newest accepted time per context of the request in hand. */
  readonly #heard = new Map<Context, number>();

  constructor(binder: Binder) {
    this.#binder = binder;
  }

  get size(): number {
    return this.#series.size;
  }

  /** Resolves the resources and scopes of a request, before its points. */
  begin(staging: Staging, source: { readonly peer: string; readonly identityHeader: string | null }): void {
    this.#heard.clear();
    this.#current = [];
    for (let index = 0; index < staging.contextCount; index += 1) {
      try {
        this.#current.push(this.#context(staging, index, source));
      } catch (error) {
        if (!(error instanceof UnreadableAttributes)) throw error;
        this.#current.push(null);
      }
    }
  }

  /** The series of a point; made and bound if it is new. Throws UnreadableAttributes. */
  find(staging: Staging, point: number, request: number): Series {
    const metric = staging.pointMetric[point] as number;
    const context = this.#current[staging.metricContext[metric] as number];
    if (context === null || context === undefined)
      throw new UnreadableAttributes('the resource or scope cannot be read');
    context.state.begin(request);
    const known = this.#layouts.find(staging, point, context.id);
    if (known !== null) return known.series;
    const series = this.#resolve(staging, point, context);
    this.#layouts.add(staging, point, context.id, series);
    return series;
  }

  /** An accepted point of a series, at the time that it was placed at. */
  observe(series: Series, at: number): void {
    series.resource.observe(at);
    for (const context of this.#current) {
      if (context?.state === series.resource) {
        this.#heard.set(context, Math.max(this.#heard.get(context) ?? Number.NEGATIVE_INFINITY, at));
        return;
      }
    }
  }

  /** Tells which balancers were heard in this request, and how new their points are. */
  tellBalancers(listener: BalancerListener, receivedAt: EpochMs): void {
    for (const [context, at] of this.#heard)
      listener.heard(context.balancer, context.resource, epochMs(at), receivedAt);
  }

  rebind(binder: Binder): void {
    this.#binder = binder;
    for (const series of this.#series.values()) series.binding = binder.bind(series.description);
  }

  snapshot(): readonly SeriesState[] {
    return [...this.#series.values()].map(({ key, description, values, resource }) => ({
      key,
      description,
      values,
      resource: { key: resource.key, newest: resource.newest, prior: resource.prior },
    }));
  }

  restore(states: readonly SeriesState[]): void {
    for (const { key, description, values, resource } of states) {
      const state = this.#resource(resource.key);
      state.newest = resource.newest;
      state.prior = resource.prior;
      const series = new Series(key, description, state, this.#binder.bind(description));
      Object.assign(series.values, values);
      this.#series.set(key, series);
    }
  }

  #context(staging: Staging, index: number, source: { peer: string; identityHeader: string | null }): Context {
    const { bytes } = staging;
    const [resourceFrom, resourceTo] = [staging.resourceFrom[index] ?? 0, staging.resourceTo[index] ?? 0];
    const [scopeFrom, scopeTo] = [staging.scopeFrom[index] ?? 0, staging.scopeTo[index] ?? 0];
    const raw = [
      bytesAsText.decode(bytes.subarray(resourceFrom, resourceTo)),
      bytesAsText.decode(bytes.subarray(scopeFrom, scopeTo)),
      source.peer,
      source.identityHeader ?? '',
    ].join('\u0000');
    const known = this.#contexts.get(raw);
    if (known !== undefined) return known;
    const resource = decodeAttributes(bytes, resourceFrom, resourceTo, RESOURCE_ATTRIBUTES);
    const balancer = balancerOf(resource, source);
    const resourceKey = JSON.stringify([attributesKey(resource), balancer.own ? '' : balancer.id]);
    const scope = decodeScope(bytes, scopeFrom, scopeTo);
    const context: Context = {
      id: this.#contexts.size,
      resource,
      scope,
      balancer: balancer.id,
      state: this.#resource(resourceKey),
      key: JSON.stringify([resourceKey, scope.name, scope.version, attributesKey(scope.attributes)]),
    };
    this.#contexts.set(raw, context);
    return context;
  }

  #resource(key: string): ResourceState {
    let state = this.#resources.get(key);
    if (state === undefined) {
      state = new ResourceState(key);
      this.#resources.set(key, state);
    }
    return state;
  }

  #resolve(staging: Staging, point: number, context: Context): Series {
    const description = describe(staging, point, context);
    const { name, unit, kind, temporality, monotonic } = description;
    const own = attributesKey(description.attributes);
    const key = JSON.stringify([context.key, name, unit, kind, temporality, monotonic, own]);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = new Series(key, description, context.state, this.#binder.bind(description));
    this.#series.set(key, series);
    return series;
  }
}

/** InstrumentationScope: name 1, version 2, attributes 3. */
function decodeScope(bytes: Uint8Array, from: number, to: number): SeriesDescription['scope'] {
  return {
    name: decodeStringField(bytes, from, to, 0x0a),
    version: decodeStringField(bytes, from, to, 0x12),
    attributes: decodeAttributes(bytes, from, to, SCOPE_ATTRIBUTES),
  };
}

/** The last string field with this tag. Reuses the walk of attributes, which passes other fields. */
function decodeStringField(bytes: Uint8Array, from: number, to: number, wanted: number): string {
  let value = '';
  let at = from;
  while (at < to) {
    const tag = bytes[at] ?? 0;
    let length = 0;
    let scale = 1;
    at += 1;
    if ((tag & 7) === 0) {
      while (at < to && (bytes[at] ?? 0) >= 0x80) at += 1;
      at += 1;
      continue;
    }
    while (at < to) {
      const byte = bytes[at++] ?? 0;
      length += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte < 0x80) break;
    }
    if (tag === wanted) value = decodeText(bytes, at, Math.min(to, at + length));
    at += length;
  }
  return value;
}

function describe(staging: Staging, point: number, context: Context): SeriesDescription {
  const { bytes } = staging;
  const metric = staging.pointMetric[point] as number;
  const kind = kindOf(staging.metricKind[metric] as number);
  const tag =
    kind === 'histogram'
      ? HISTOGRAM_ATTRIBUTES
      : kind === 'exponential_histogram'
        ? EXPONENTIAL_ATTRIBUTES
        : NUMBER_ATTRIBUTES;
  return {
    resource: context.resource,
    scope: context.scope,
    balancer: context.balancer,
    name: decodeText(bytes, staging.nameFrom[metric] ?? 0, staging.nameTo[metric] ?? 0),
    unit: decodeText(bytes, staging.unitFrom[metric] ?? 0, staging.unitTo[metric] ?? 0),
    kind,
    temporality: temporalityOf(staging.temporality[metric] as number),
    monotonic: staging.monotonic[metric] === 1,
    attributes: decodeAttributes(bytes, staging.attributesFrom[point] ?? 0, staging.attributesTo[point] ?? 0, tag),
  };
}

function kindOf(kind: number): PointKind {
  switch (kind) {
    case KIND_GAUGE:
      return 'gauge';
    case KIND_SUM:
      return 'sum';
    case KIND_HISTOGRAM:
      return 'histogram';
    case KIND_EXPONENTIAL_HISTOGRAM:
      return 'exponential_histogram';
    default:
      return 'summary';
  }
}

const temporalityOf = (temporality: number): Temporality =>
  temporality === 1 ? 'delta' : temporality === 2 ? 'cumulative' : 'unspecified';
