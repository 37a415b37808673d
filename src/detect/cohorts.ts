import type { BalancerState, FeatureName, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import {
  type Cohort,
  type CohortReader,
  type ConfigPush,
  cohortReader,
  compareCohorts,
  type Delta,
  type HealthLimits,
  type Measure,
  pushesOf,
  type Rollout,
  rolloutOf,
  type Windows,
} from './config-health.ts';
import { distributionOf } from './distribution.ts';
import { isSuspicious, type SampleSize, sampleSize } from './sample-size.ts';
import type { Sample } from './two-samples.ts';

/** A verdict on a shadow is withheld when more of its requests than this were dropped (a choice of ours). */
export const DROPS_MAX = 0.01;
/** Longest window that is kept in steps of ten seconds. */
export const WINDOW_MAX_MS = 6 * 3_600_000;
const MINUTE_MS = 60_000;
/** Balancers that changed within this time of each other changed in one batch. */
const BATCH_MS = 60_000;

export const COMPARED = ['configVersion', 'version', 'zone', 'region', 'balancer', 'cluster'] as const;
export type Compared = (typeof COMPARED)[number];
export type ComparisonKind = 'canary' | 'shadow' | 'zone' | 'cohorts';

/** Two cohorts to compare: what has `a` for the attribute, and what has `b`; null = all that has another value. */
export interface ComparisonRequest {
  readonly attribute: Compared;
  readonly a: string;
  readonly b: string | null;
  /** Where several kinds of configuration share a version. */
  readonly configKind: string | null;
  /** With `zone`: the hosts of this cluster by their zones, not the balancers by theirs. */
  readonly cluster: string | null;
  /** `a` gets copies of the requests of `b`; null = as `lb.mirror.requests` says. */
  readonly shadow: boolean | null;
  /** Null = since a version began to run, else an hour. */
  readonly windowMs: number | null;
  /** Rate of a fault that must not be missed, and with what confidence. */
  readonly fault: number;
  readonly confidence: number;
}

/** How far a version has come: balancers that have run it since it began, of all that tell such a version. */
export interface Exposure {
  readonly rollout: Rollout;
  readonly balancers: number;
  readonly of: number;
  readonly share: number;
  /** Share of the requests of the last minute that those still running it answered. */
  readonly requestShare: number;
  /** Groups of balancers that changed within a minute of each other. */
  readonly batches: number;
}

/** Copies of requests: those that were made, and those of them that did not reach the shadow. */
export interface Drops {
  readonly copies: number;
  readonly dropped: number;
  readonly share: number;
}

export type ComparisonMeasure = Measure | 'backend_p99';
export type ComparisonDelta = Omit<Delta, 'measure'> & { readonly measure: ComparisonMeasure };
export type ComparisonVerdict = 'worse' | 'no_worse' | 'hold' | 'withheld';

export interface Comparison {
  readonly kind: ComparisonKind;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly verdict: ComparisonVerdict;
  /** The verdict in words, with the sample that it rests on. */
  readonly reason: string;
  readonly worse: readonly ComparisonMeasure[];
  readonly deltas: readonly ComparisonDelta[];
  readonly requests: number;
  readonly otherRequests: number;
  readonly size: SampleSize;
  /** Until `requestsNeeded` have been seen at the pace of the window; 0 = they have, null = never at this pace. */
  readonly needsMs: number | null;
  readonly exposure: Exposure | null;
  readonly drops: Drops | null;
  /** Balancers on both sides, or what else was counted. */
  readonly members: readonly string[];
  readonly others: readonly string[];
}

/** Both sides, read. */
interface Sides {
  readonly kind: ComparisonKind;
  readonly from: EpochMs;
  readonly own: Cohort;
  readonly other: Cohort;
  /** A version's own balancers before the change. */
  readonly before: Cohort | null;
  readonly push: ConfigPush | null;
  readonly members: readonly string[];
  readonly others: readonly string[];
}

/** Why there is nothing to compare, for a person. */
export interface NotComparable {
  readonly missing: string;
}

/** Compares two cohorts over the same window, by the thresholds by which config versions are judged. */
export function compareSides(
  view: FeatureView,
  request: ComparisonRequest,
  now: EpochMs,
  limits: HealthLimits,
): Comparison | NotComparable {
  const end = view.watermark(now);
  if (end === null) return { missing: 'no balancer has told anything yet' };
  const sides = sidesOf(view, request, now, end);
  if ('missing' in sides) return sides;
  const { own, other, before, push } = sides;
  const deltas = [
    ...compareCohorts(own, other, 'rest', limits),
    ...(before === null ? [] : compareCohorts(own, before, 'before', limits)),
  ].map((delta) => named(delta, request));
  const drops = dropsOf(view, request, sides, end);
  const kind = drops !== null || request.shadow === true ? 'shadow' : sides.kind;
  // A version that is everywhere has only its past to be compared with.
  const beside = other.errors.events > 0 || before === null ? other.errors : before.errors;
  const size = sampleSize(own.errors.events, beside, request.fault, request.confidence);
  const pace = own.errors.events / Math.max(1, end - sides.from);
  const left = Math.max(0, size.requestsNeeded - own.errors.events);
  const judged = { ...sides, kind, deltas, beside, size, drops, worse: worseOf(deltas) } as const;
  const age = push === null ? null : end - push.since;
  return {
    kind,
    from: sides.from,
    to: end,
    ...verdictOf(judged, request, limits, age),
    worse: judged.worse,
    deltas,
    requests: own.errors.events,
    otherRequests: other.errors.events,
    size,
    needsMs: left === 0 ? 0 : pace > 0 && Number.isFinite(left) ? left / pace : null,
    exposure: push === null ? null : exposureOf(view, push, now, end),
    drops,
    members: sides.members,
    others: sides.others,
  };
}

/** Worse than everything that it can be compared with. */
function worseOf(deltas: readonly ComparisonDelta[]): readonly ComparisonMeasure[] {
  const measures = [...new Set(deltas.map(({ measure }) => measure))];
  return measures.filter((measure) => deltas.every((delta) => delta.measure !== measure || delta.worse));
}

interface Judged extends Sides {
  readonly deltas: readonly ComparisonDelta[];
  readonly worse: readonly ComparisonMeasure[];
  readonly beside: Sample;
  readonly size: SampleSize;
  readonly drops: Drops | null;
}

function verdictOf(
  { kind, own, beside, deltas, worse, size, drops }: Judged,
  { fault, confidence }: ComparisonRequest,
  { minEvents, bakeMs }: HealthLimits,
  age: number | null,
): { readonly verdict: ComparisonVerdict; readonly reason: string } {
  const { events, hits } = own.errors;
  const sure = `${Math.round(confidence * 1000) / 10} %`;
  const sample = `${whole(events)} requests, beside ${whole(beside.events)}`;
  const missed = `a fault of less than 1 in ${oneIn(size.rarestFault)} could have been missed (${sure} confidence)`;
  if (kind === 'shadow' && drops === null) {
    return withheld('nobody tells how many copies were dropped: lb.mirror.requests by lb.mirror.outcome is missing');
  }
  if (drops !== null && drops.share > DROPS_MAX) {
    const share = `${percentOf(drops.share)} of ${whole(drops.copies)} copies were dropped`;
    return withheld(`${share}, more than ${percentOf(DROPS_MAX)}: what is left is no fair sample`);
  }
  if (worse.length > 0) return { verdict: 'worse', reason: `${worse.join(', ')} worse in ${sample}` };
  if (!deltas.some(({ measure }) => measure === 'errors')) {
    return { verdict: 'hold', reason: `${sample}: each side needs ${whole(minEvents)} at least` };
  }
  if (isSuspicious(own.errors, beside)) {
    const both = `${whole(hits)} of ${whole(events)} failed, ${whole(beside.hits)} of ${whole(beside.events)} beside`;
    return { verdict: 'hold', reason: `${both}: too few to call it worse, too many to pass over` };
  }
  if (events < size.requestsNeeded) {
    const needs = Number.isFinite(size.requestsNeeded) ? `needs ${whole(size.requestsNeeded)}` : 'would never show';
    const wanted = `a fault of 1 in ${oneIn(fault)} ${needs} to be seen with ${sure}`;
    return { verdict: 'hold', reason: `${sample}: ${wanted}; ${missed}` };
  }
  if (age !== null && age < bakeMs) {
    return {
      verdict: 'hold',
      reason: `it has run for ${whole(age / 1000)} s, and bakes for ${whole(bakeMs / 1000)} s`,
    };
  }
  return { verdict: 'no_worse', reason: `no worse in ${sample}; ${missed}` };
}

const withheld = (reason: string) => ({ verdict: 'withheld', reason }) as const;
const whole = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
const oneIn = (share: number): string => (share > 0 ? whole(1 / share) : 'any number');
const percentOf = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;

const named = (delta: Delta, { attribute, cluster }: ComparisonRequest): ComparisonDelta =>
  delta.measure === 'added_p99' && (attribute === 'cluster' || cluster !== null)
    ? { ...delta, measure: 'backend_p99' }
    : delta;

function sidesOf(view: FeatureView, request: ComparisonRequest, now: EpochMs, end: EpochMs): Sides | NotComparable {
  const { attribute, a, cluster } = request;
  if (attribute === 'configVersion') return versionSides(view, request, now, end);
  const from = epochMs(end - Math.min(request.windowMs ?? 60 * MINUTE_MS, WINDOW_MAX_MS));
  const kind = attribute === 'zone' ? 'zone' : attribute === 'version' ? 'canary' : 'cohorts';
  if (attribute === 'cluster') return countedSides(view, request, 'cluster', from, end);
  if (cluster !== null) return countedSides(view, request, 'zone', from, end);
  const heard = view.balancers(now).filter(({ stale }) => !stale);
  const attributeOf = (one: BalancerState): string | null => (attribute === 'balancer' ? one.id : one[attribute]);
  const members = heard.filter((one) => attributeOf(one) === a);
  const others = heard.filter((one) => (request.b === null ? attributeOf(one) !== a : attributeOf(one) === request.b));
  const missing = members.length === 0 ? a : others.length === 0 ? (request.b ?? `another than ${a}`) : null;
  if (missing !== null) return { missing: `no balancer that is heard has the ${attribute} ${missing}` };
  const reader = cohortReader(view);
  const read = (list: readonly BalancerState[]): Cohort =>
    reader.read(list.map(({ id }) => ({ balancer: id, from, to: end })));
  return {
    kind,
    from,
    own: read(members),
    other: read(others),
    before: null,
    push: null,
    members: members.map(({ id }) => id),
    others: others.map(({ id }) => id),
  };
}

/** A version against those on the version before (or on `b`), and against its own balancers before the change. */
function versionSides(
  view: FeatureView,
  { a, b, configKind, windowMs }: ComparisonRequest,
  now: EpochMs,
  end: EpochMs,
): Sides | NotComparable {
  const push = pushesOf(view, now).find((one) => one.version === a && (configKind ?? one.kind) === one.kind);
  if (push === undefined)
    return { missing: `no balancer that is heard runs config version ${a}, or it replaced no other` };
  const rest = b === null || b === push.previous ? push.rest.map(({ id }) => id) : runningOf(view, push.kind, b, now);
  if (b !== null && rest.length === 0) return { missing: `no balancer that is heard runs config version ${b}` };
  const since = epochMs(Math.max(push.since, end - Math.min(windowMs ?? WINDOW_MAX_MS, WINDOW_MAX_MS)));
  const spanMs = Math.max(MINUTE_MS, end - since);
  const reader: CohortReader = cohortReader(view);
  const own: Windows = push.runs.map((run) => ({
    balancer: run.balancer,
    from: epochMs(Math.max(run.since, since)),
    to: end,
  }));
  const before: Windows = push.before.map(({ balancer, until }) => {
    return { balancer, from: epochMs(until - spanMs), to: until };
  });
  return {
    kind: 'canary',
    from: since,
    own: reader.read(own),
    other: reader.read(rest.map((balancer) => ({ balancer, from: since, to: end }))),
    before: reader.read(before),
    push,
    members: push.balancers.map(({ id }) => id),
    others: rest,
  };
}

const runningOf = (view: FeatureView, kind: string, version: string, now: EpochMs): readonly string[] =>
  view
    .configs(now)
    .filter((run) => run.kind === kind && run.version === version && run.current && !run.stale)
    .map(({ balancer }) => balancer);

/** Clusters, or the zones of one cluster, by what their hosts answered. */
function countedSides(
  view: FeatureView,
  { a, b, cluster }: ComparisonRequest,
  label: 'cluster' | 'zone',
  from: EpochMs,
  end: EpochMs,
): Sides | NotComparable {
  const isIn = (value: string | undefined): boolean => (b === null ? value !== undefined && value !== a : value === b);
  const read = (fits: (value: string | undefined) => boolean): { cohort: Cohort; names: readonly string[] } => {
    const names = new Set<string>();
    const sum = (name: FeatureName): number => {
      let total = 0;
      for (const one of view.features(name)) {
        const value = one.labels.get(label);
        if ((cluster !== null && one.labels.get('cluster') !== cluster) || !fits(value)) continue;
        if (value !== undefined) names.add(value);
        total += one.range(from, end);
      }
      return total;
    };
    const events = sum('cluster.requests');
    const hits = sum('cluster.errors');
    const timed = label === 'zone' ? [] : view.histograms('lb.stage.backend.duration');
    const own = timed.filter(({ labels }) => fits(labels.get('cluster')));
    const [start, to] = [Math.ceil(from / MINUTE_MS) * MINUTE_MS, Math.floor(end / MINUTE_MS) * MINUTE_MS];
    const added = distributionOf(own, epochMs(start), epochMs(to));
    return { cohort: { errors: { hits, events }, added, cpu: { busy: 0, all: 0 }, load: 0 }, names: [...names].sort() };
  };
  const own = read((value) => value === a);
  const other = read(isIn);
  const where = cluster === null ? '' : ` of cluster ${cluster}`;
  const missing = own.names.length === 0 ? a : other.names.length === 0 ? (b ?? `another than ${a}`) : null;
  if (missing !== null) return { missing: `no request is counted for the ${label} ${missing}${where}` };
  return {
    kind: label === 'zone' ? 'zone' : 'cohorts',
    from,
    own: own.cohort,
    other: other.cohort,
    before: null,
    push: null,
    members: own.names,
    others: other.names,
  };
}

/** Null where no copies were counted, or the sides are no shadow and its original. */
function dropsOf(
  view: FeatureView,
  { attribute, a, shadow }: ComparisonRequest,
  { from }: Sides,
  end: EpochMs,
): Drops | null {
  if (shadow === false || (shadow === null && attribute !== 'cluster')) return null;
  let [copies, dropped] = [0, 0];
  for (const one of view.features('mirror.requests')) {
    const cluster = one.labels.get('cluster');
    const isOwn = attribute === 'cluster' ? cluster === a || (shadow === true && cluster === undefined) : true;
    if (!isOwn) continue;
    const events = one.range(from, end);
    copies += events;
    if (one.labels.get('outcome') !== 'sent') dropped += events;
  }
  return copies > 0 ? { copies, dropped, share: dropped / copies } : null;
}

function exposureOf(view: FeatureView, push: ConfigPush, now: EpochMs, end: EpochMs): Exposure {
  const runs = view.configs(now).filter(({ kind }) => kind === push.kind);
  const exposed = runs.filter((run) => run.version === push.version && run.since >= push.since);
  const ids = new Set(exposed.map(({ balancer }) => balancer));
  const all = new Set([...ids, ...runs.flatMap((run) => (run.current && !run.stale ? [run.balancer] : []))]);
  const reader = cohortReader(view);
  const from = epochMs(end - MINUTE_MS);
  const answered = (balancers: Iterable<string>): number =>
    reader.read([...balancers].map((balancer) => ({ balancer, from, to: end }))).errors.events;
  const everywhere = answered(all);
  const starts = exposed.map(({ since }) => since).sort((a, b) => a - b);
  return {
    rollout: rolloutOf(push, view.balancers(now)),
    balancers: ids.size,
    of: all.size,
    share: all.size === 0 ? 0 : ids.size / all.size,
    requestShare: everywhere === 0 ? 0 : answered(push.balancers.map(({ id }) => id)) / everywhere,
    batches: starts.filter((since, index) => index === 0 || since - (starts[index - 1] as number) > BATCH_MS).length,
  };
}
