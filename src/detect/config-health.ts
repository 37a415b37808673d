import { BALANCER_HISTOGRAM, type BalancerState, type ConfigRun, type FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { type CpuReader, type CpuSums, cpuReader } from './balancer-cpu.ts';
import { byBalancer } from './by-balancer.ts';
import { type Distribution, distributionOf } from './distribution.ts';
import { sumOf } from './sums.ts';
import { logChanceNotHigher, rarestSeen, type Sample, shareOf } from './two-samples.ts';

/** Added latency is kept per minute: windows of it are whole minutes. */
const MINUTE_MS = 60_000;
const LOG_CHANCE_MAX = Math.log(1e-8);

export type Verdict = 'promote' | 'hold' | 'rollback';
export type Rollout = 'canary' | 'zone' | 'region' | 'global';

/** What decides; times in milliseconds, shares of 1. */
export interface HealthLimits {
  /** What is looked at of the time before and after a change. */
  readonly windowMs: number;
  /** A version that is younger is held. */
  readonly bakeMs: number;
  readonly minEvents: number;
  readonly errorsAbove: number;
  readonly errorsRise: number;
  readonly latencyAbove: number;
  readonly latencyRiseMs: number;
  readonly cpuRise: number;
}

/** A change of config: one version of one kind on the balancers that run it now. */
export interface ConfigPush {
  readonly kind: string;
  readonly version: string;
  /** What most of its balancers ran before; null = not known. */
  readonly previous: string | null;
  /** When the first of them began to run it. */
  readonly since: EpochMs;
  readonly balancers: readonly BalancerState[];
  readonly runs: readonly ConfigRun[];
  /** Whose time before the push is comparable, and when it ended. */
  readonly before: readonly { readonly balancer: string; readonly until: EpochMs }[];
  /** Balancers that still run the version before, and are heard. */
  readonly rest: readonly BalancerState[];
}

export type Measure = 'errors' | 'added_p99' | 'cpu';

/** One measure of the version beside one thing that it is compared with. */
export interface Delta {
  readonly measure: Measure;
  readonly against: 'rest' | 'before';
  readonly value: number;
  readonly other: number;
  /** Requests (or readings of CPU) on both sides. */
  readonly sample: number;
  readonly otherSample: number;
  /** Chance that the difference is none; null where it is not a matter of counts. */
  readonly chance: number | null;
  readonly worse: boolean;
}

export interface ConfigHealth {
  readonly push: ConfigPush;
  readonly rollout: Rollout;
  readonly verdict: Verdict;
  readonly deltas: readonly Delta[];
  /** Measures that are worse than everything they can be compared with. */
  readonly worse: readonly Measure[];
  readonly requests: number;
  /** The rarest fault that so many requests show with 95 %. */
  readonly rarestSeen: number;
}

/** A version that is younger by less than this came with another one, not after it. */
const FOLLOWS_MS = 300_000;

interface Member {
  readonly run: ConfigRun;
  /** What this balancer ran before; null where it is as young as its version, as replaced instances are. */
  readonly previous: string | null;
  readonly balancer: BalancerState;
}

/** Versions that replaced another one and run now somewhere, in the order of kinds, then versions. */
export function pushesOf(view: FeatureView, now: EpochMs): readonly ConfigPush[] {
  const runs = view.configs(now);
  const members = membersOf(runs, view.balancers(now));
  const found: ConfigPush[] = [];
  for (const [, running] of [...members].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { kind, version } = (running[0] as Member).run;
    const known = running.filter(({ previous }) => previous !== null);
    const since = epochMs(Math.min(...(known.length > 0 ? known : running).map(({ run }) => run.since)));
    const previous =
      known.length > 0
        ? mostFrequent(known.map((one) => one.previous as string))
        : forerunner(runs, kind, version, since);
    if (previous === null) continue;
    // Balancers that ran it long before this push are no part of it.
    const changed = running.filter((one) => one.previous !== null || one.run.since >= since);
    found.push({
      kind,
      version,
      previous,
      since,
      balancers: changed.map(({ balancer }) => balancer),
      runs: changed.map(({ run }) => run),
      before: beforeOf(changed, runs, previous, since),
      rest: (members.get(keyOf(kind, previous)) ?? []).map(({ balancer }) => balancer),
    });
  }
  return found;
}

const keyOf = (kind: string, version: string): string => JSON.stringify([kind, version]);

/** Balancers that are heard, by what they run now. */
function membersOf(
  runs: readonly ConfigRun[],
  balancers: readonly BalancerState[],
): ReadonlyMap<string, readonly Member[]> {
  const states = new Map(balancers.map((balancer) => [balancer.id, balancer]));
  const members = new Map<string, Member[]>();
  let last: ConfigRun | null = null;
  for (const run of runs) {
    const previous = last !== null && last.balancer === run.balancer && last.kind === run.kind ? last.version : null;
    last = run;
    const balancer = states.get(run.balancer);
    if (balancer === undefined || !run.current || run.stale) continue;
    const list = members.get(keyOf(run.kind, run.version));
    if (list === undefined) members.set(keyOf(run.kind, run.version), [{ run, previous, balancer }]);
    else list.push({ run, previous, balancer });
  }
  return members;
}

/** What most balancers ran when instances with a new version came up beside or instead of them. */
function forerunner(runs: readonly ConfigRun[], kind: string, version: string, since: EpochMs): string | null {
  const older = runs.filter(
    (run) =>
      run.kind === kind && run.version !== version && run.since < since - FOLLOWS_MS && run.lastAt > since - FOLLOWS_MS,
  );
  return mostFrequent(older.map((run) => run.version));
}

/** The time before a push: of its own balancers, and for those that are new of the ones that ran the version before. */
function beforeOf(
  changed: readonly Member[],
  runs: readonly ConfigRun[],
  previous: string,
  since: EpochMs,
): ConfigPush['before'] {
  const own = changed.flatMap(({ run, previous: before }) =>
    before === null ? [] : [{ balancer: run.balancer, until: run.since }],
  );
  if (own.length > 0) return own;
  const kind = changed[0]?.run.kind;
  return runs
    .filter((run) => run.kind === kind && run.version === previous && run.since < since)
    .map(({ balancer }) => ({ balancer, until: since }));
}

function mostFrequent(values: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))[0]?.[0] ?? null;
}

/** How far a version has come, by the balancers that run it. */
export function rolloutOf(push: ConfigPush, all: readonly BalancerState[]): Rollout {
  const ids = new Set(push.balancers.map(({ id }) => id));
  const isWhole = (part: 'zone' | 'region'): boolean => {
    const names = new Set(push.balancers.map((balancer) => balancer[part]));
    const [name] = names;
    return names.size === 1 && name !== null && all.every((one) => one[part] !== name || ids.has(one.id));
  };
  const fresh = all.filter(({ stale }) => !stale);
  if (fresh.every(({ id }) => ids.has(id))) return 'global';
  if (isWhole('region')) return 'region';
  if (isWhole('zone') && push.balancers.length > 1) return 'zone';
  const regions = new Set(push.balancers.map(({ region }) => region));
  const zones = new Set(push.balancers.map(({ zone }) => zone));
  if (push.balancers.length <= Math.max(1, fresh.length / 10)) return 'canary';
  return zones.size === 1 ? 'zone' : regions.size === 1 ? 'region' : 'global';
}

/** What tells a version from its siblings as the subject of an alert. */
export function pushIdentity({ kind, version }: Pick<ConfigPush, 'kind' | 'version'>): Labels {
  return labelsOf([['configVersion', version], ...(kind === '' ? [] : [['configKind', kind] as const])]);
}

/** Versions that no balancer runs any more, as far as all that ran them are heard; those that are forgotten too. */
export function goneFrom(view: FeatureView, now: EpochMs, keys: Iterable<string>): ReadonlySet<string> {
  const gone = new Set<string>();
  const runs = view.configs(now);
  for (const key of keys) {
    const own = runs.filter((run) => labelsKey(pushIdentity(run)) === key);
    if (runs.length > 0 && own.every(({ current, stale }) => !current && !stale)) gone.add(key);
  }
  return gone;
}

/** Counts, durations and CPU of some balancers, each over a window of its own. */
export interface Cohort {
  readonly errors: Sample;
  readonly added: Distribution;
  readonly cpu: CpuSums;
  /** Requests per balancer and millisecond; 0 where none are told. */
  readonly load: number;
}

export type Windows = readonly { readonly balancer: string; readonly from: EpochMs; readonly to: EpochMs }[];

/** Reads cohorts from sums: no mean of means, so that a busy balancer weighs what it carries. */
export interface CohortReader {
  read(windows: Windows): Cohort;
}

export function cohortReader(view: FeatureView): CohortReader {
  const requests = byBalancer(view.features('balancer.requests'));
  const errors = byBalancer(view.features('balancer.errors'));
  const added = byBalancer(view.histograms(BALANCER_HISTOGRAM.added));
  const cpu: CpuReader = cpuReader(view);
  return {
    read(windows) {
      let [hits, events, busy, all, span] = [0, 0, 0, 0, 0];
      const ranges: Parameters<typeof distributionOf>[0][number][] = [];
      for (const { balancer, from, to } of windows) {
        hits += sumOf(errors.get(balancer) ?? []).range(from, to);
        events += sumOf(requests.get(balancer) ?? []).range(from, to);
        span += to - from;
        const load = cpu.read(balancer, from, to);
        busy += load.busy;
        all += load.all;
        const [start, end] = [Math.ceil(from / MINUTE_MS) * MINUTE_MS, Math.floor(to / MINUTE_MS) * MINUTE_MS];
        for (const one of added.get(balancer) ?? []) {
          ranges.push({ labels: one.labels, range: () => one.range(epochMs(start), epochMs(end)) });
        }
      }
      const durations = distributionOf(ranges, epochMs(0), epochMs(0));
      return { errors: { hits, events }, added: durations, cpu: { busy, all }, load: span > 0 ? events / span : 0 };
    },
  };
}

/**
 * Whether a version is worse than what it replaced: its balancers against those still on the version before, and
 * against themselves before the change. A measure counts as worse only if it is so against everything it can be
 * compared with, so that neither a zone that always was worse nor an hour that is worse everywhere speaks against a
 * version.
 */
export function healthOf(
  push: ConfigPush,
  reader: CohortReader,
  all: readonly BalancerState[],
  end: EpochMs,
  limits: HealthLimits,
): ConfigHealth {
  const { windowMs } = limits;
  const after: Windows = push.runs.map(({ balancer, since }) => {
    return { balancer, from: epochMs(Math.max(since, end - windowMs)), to: end };
  });
  const before: Windows = push.before.map(({ balancer, until }) => {
    return { balancer, from: epochMs(until - windowMs), to: until };
  });
  const restFrom = epochMs(Math.max(push.since, end - windowMs));
  const rest: Windows = push.rest.map(({ id }) => ({ balancer: id, from: restFrom, to: end }));
  const own = reader.read(after);
  const deltas = [
    ...compareCohorts(own, reader.read(rest), 'rest', limits),
    ...compareCohorts(own, reader.read(before), 'before', limits),
  ];
  const measures: readonly Measure[] = ['errors', 'added_p99', 'cpu'];
  const worse = measures.filter((measure) => {
    const judged = deltas.filter((delta) => delta.measure === measure);
    return judged.length > 0 && judged.every((delta) => delta.worse);
  });
  const requests = own.errors.events;
  const isSeen = requests >= limits.minEvents && deltas.some(({ measure }) => measure === 'errors');
  const isBaked = end - push.since >= limits.bakeMs;
  const verdict = worse.length > 0 ? 'rollback' : isSeen && isBaked ? 'promote' : 'hold';
  const rollout = rolloutOf(push, all);
  return { push, rollout, verdict, deltas, worse, requests, rarestSeen: rarestSeen(requests) };
}

/** Every measure that both sides have enough of. */
export function compareCohorts(
  own: Cohort,
  other: Cohort,
  against: Delta['against'],
  limits: HealthLimits,
): readonly Delta[] {
  const deltas: Delta[] = [];
  if (isJudged(own.errors, other.errors, limits)) deltas.push(errorsDelta(own, other, against, limits));
  const p99 = own.added.quantile(0.99);
  const otherP99 = other.added.quantile(0.99);
  const enough = own.added.count >= limits.minEvents && other.added.count >= limits.minEvents;
  if (enough && p99 !== null && otherP99 !== null) {
    const above = (one: Distribution): Sample => ({ hits: Math.floor(one.above(otherP99)), events: one.count });
    const logChance = logChanceNotHigher(above(own.added), above(other.added));
    const worse =
      p99 >= limits.latencyAbove * otherP99 &&
      (p99 - otherP99) * 1000 >= limits.latencyRiseMs &&
      logChance <= LOG_CHANCE_MAX;
    const sizes = { sample: own.added.count, otherSample: other.added.count };
    deltas.push({
      measure: 'added_p99',
      against,
      value: p99,
      other: otherP99,
      ...sizes,
      chance: Math.exp(logChance),
      worse,
    });
  }
  const { cpu } = own;
  if (cpu.all >= CPU_READINGS_MIN && other.cpu.all >= CPU_READINGS_MIN) {
    const [value, usual] = [cpu.busy / cpu.all, other.cpu.busy / other.cpu.all];
    // More requests need more CPU: what counts is more of it for each.
    const isDearer = own.load <= 0 || other.load <= 0 || value / own.load >= (DEARER * usual) / other.load;
    const worse = value - usual >= limits.cpuRise && isDearer;
    const sizes = { sample: cpu.all, otherSample: other.cpu.all };
    deltas.push({ measure: 'cpu', against, value, other: usual, ...sizes, chance: null, worse });
  }
  return deltas;
}

/** Readings of CPU on each side: fewer are a moment. */
const CPU_READINGS_MIN = 4;
/** CPU per request that is more than what it varies by. */
const DEARER = 1.25;

const isJudged = (own: Sample, other: Sample, { minEvents }: HealthLimits): boolean =>
  own.events >= minEvents && other.events >= minEvents;

function errorsDelta(own: Cohort, other: Cohort, against: Delta['against'], limits: HealthLimits): Delta {
  const [value, usual] = [shareOf(own.errors), shareOf(other.errors)];
  const logChance = logChanceNotHigher(own.errors, other.errors);
  return {
    measure: 'errors',
    against,
    value,
    other: usual,
    sample: own.errors.events,
    otherSample: other.errors.events,
    chance: Math.exp(logChance),
    worse: value >= limits.errorsAbove * usual && value - usual >= limits.errorsRise && logChance <= LOG_CHANCE_MAX,
  };
}
