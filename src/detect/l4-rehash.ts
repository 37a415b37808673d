import type { BalancerState, FeatureView, PeakSeries } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { namesText } from './regions.ts';
import { baselineBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { type Summed, sumWhere } from './sums.ts';
import { percent, timesText } from './words.ts';

const STEP_MS = 10_000;
const SLICE_MS = 20_000;
const MINUTE_MS = 60_000;
const FLEET = labelsOf([['scope', 'fleet']]);

/**
 * The number of L4 nodes or of balancers changed, and connections were reset that had nothing to do with it: their
 * flows now reach a balancer that does not know them. A balancer that leaves takes its own connections; consistent
 * hashing with tracked flows costs no others.
 */
export const l4Rehash: Detector = {
  name: ALERT.l4Rehash,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const since = epochMs(end - threshold(settings, 'changeWithin'));
    const change = nodesChange(view, since, end) ?? balancersChange(view.balancers(now), since);
    const figures = change === null ? null : figuresOf(view, change, end, settings);
    if (change !== null && figures !== null && isRehash(figures, change, settings)) {
      return { holding: [toFinding(change, figures, settings)], undecided: new Set() };
    }
    // A fleet that nobody hears of says nothing about its flows.
    const isSilent = view.balancers(now).every(({ stale }) => stale);
    return {
      holding: [],
      undecided: new Set(isSilent ? [...firingSince.keys()].filter((key) => key === labelsKey(FLEET)) : []),
    };
  },
};

/** Something that flows are hashed over has become more or fewer. */
interface Change {
  readonly of: 'nodes' | 'balancers';
  readonly at: EpochMs;
  readonly from: number;
  readonly to: number;
  /** Share of the connections that such a change costs under consistent hashing with tracked flows. */
  readonly fairShare: number;
  readonly text: string;
}

/** Of what balancers say of the nodes before them, the earliest change. */
function nodesChange(view: FeatureView, since: EpochMs, end: EpochMs): Change | null {
  let found: Change | null = null;
  for (const series of view.peaks('l4.nodes')) {
    const steps = series.peaks(since, end);
    for (const [index, { at, value }] of steps.entries()) {
      const before = steps[index - 1];
      if (before === undefined || before.value === value) continue;
      if (found === null || at < found.at) {
        const text = `L4 nodes went from ${before.value} to ${value}`;
        found = { of: 'nodes', at, from: before.value, to: value, fairShare: 0, text };
      }
      break;
    }
  }
  return found;
}

/** Balancers that came, or fell silent, while others had been there before and are still. */
function balancersChange(balancers: readonly BalancerState[], since: EpochMs): Change | null {
  const came = balancers.filter(({ firstSeenAt, stale }) => firstSeenAt > since && !stale);
  const went = balancers.filter(
    ({ stale, newestPointAt, firstSeenAt }) => stale && newestPointAt > since && firstSeenAt <= since,
  );
  const stayed = balancers.filter(({ stale, firstSeenAt }) => !stale && firstSeenAt <= since).length;
  if (came.length + went.length === 0 || stayed === 0) return null;
  const [from, to] = [stayed + went.length, stayed + came.length];
  const moved = [...came.map(({ firstSeenAt }) => firstSeenAt), ...went.map(({ newestPointAt }) => newestPointAt)];
  const names = namesText([...came, ...went].map(({ id }) => id).sort());
  return {
    of: 'balancers',
    at: epochMs(Math.min(...moved)),
    from,
    to,
    fairShare: Math.min(1, (came.length + went.length) / Math.max(from, to)),
    text: `balancers went from ${from} to ${to} (${names})`,
  };
}

interface Figures {
  readonly resets: number;
  readonly usualResets: number;
  /** Of the connections that were open; null where that is not told. */
  readonly share: number | null;
  /** Flows that L4 nodes did not know; null where that is not told. */
  readonly misses: number | null;
  readonly usualMisses: number;
  /** Times the usual rate of full handshakes, of new connections where those are not told; null = not known. */
  readonly growth: number | null;
}

/** Null where nothing is known of resets, or of what is usual. */
function figuresOf(view: FeatureView, change: Change, end: EpochMs, settings: DetectorSettings): Figures | null {
  const from = epochMs(Math.floor((change.at - STEP_MS) / STEP_MS) * STEP_MS);
  const to = epochMs(Math.min(end, from + STEP_MS + threshold(settings, 'window')));
  const all = (): boolean => true;
  const resets = sumWhere(view, 'balancer.resets', all);
  // Few resets are no rehash, whatever else there is: nothing more is read then.
  if (to <= from || resets.range(from, to) < threshold(settings, 'minResets')) return null;
  const usual = (counter: Summed): number | null =>
    baselineBefore(counter.firstDataAt, from, (a, b) => counter.range(a, b) / (b - a))?.middle ?? null;
  const misses = sumWhere(view, 'l4.misses', all);
  const full = sumWhere(view, 'tls.handshakes', (labels) => labels.get('resumed') !== 'true');
  const opened = full.firstDataAt === null ? sumWhere(view, 'balancer.connections', all) : full;
  const usualOpened = usual(opened);
  const open = openBefore(view, from);
  return {
    resets: resets.range(from, to),
    usualResets: (usual(resets) ?? 0) * (to - from),
    share: open > 0 ? resets.range(from, to) / open : null,
    misses: misses.firstDataAt === null ? null : misses.range(from, to),
    usualMisses: (usual(misses) ?? 0) * (to - from),
    growth: usualOpened === null || usualOpened <= 0 ? null : highestGrowth(opened, usualOpened, from, to),
  };
}

/** Clients come back within seconds: the busiest slice counts, not the mean of a minute. */
function highestGrowth(counter: Summed, usualPerMs: number, from: EpochMs, to: EpochMs): number {
  let highest = 0;
  for (let start = from; start < to; start = epochMs(start + SLICE_MS)) {
    const stop = epochMs(Math.min(to, start + SLICE_MS));
    highest = Math.max(highest, counter.range(start, stop) / (usualPerMs * SLICE_MS));
  }
  return highest;
}

/** Connections that were open shortly before. */
function openBefore(view: FeatureView, at: EpochMs): number {
  let open = 0;
  for (const series of view.peaks('connections.active')) open += largest(series, epochMs(at - 2 * MINUTE_MS), at);
  return open;
}

const largest = (series: PeakSeries, from: EpochMs, to: EpochMs): number =>
  series.peaks(from, to).reduce((most, { value }) => Math.max(most, value), 0);

function isRehash(figures: Figures, { of, fairShare }: Change, settings: DetectorSettings): boolean {
  const above = threshold(settings, 'resetsAboveBaseline');
  const { resets, usualResets, share, misses, usualMisses, growth } = figures;
  if (resets < above * usualResets) return false;
  // Balancers that come and go take connections with them: without knowing how many were open nothing is said of it.
  if (share === null ? of === 'balancers' : share < fairShare + threshold(settings, 'resetShare')) return false;
  if (misses !== null && (misses < threshold(settings, 'minResets') || misses < above * usualMisses)) return false;
  return growth !== null && growth >= threshold(settings, 'handshakesAboveBaseline');
}

function toFinding(change: Change, figures: Figures, settings: DetectorSettings): Finding {
  const { resets, share, misses, growth } = figures;
  const count = Math.round(resets);
  const lost =
    share === null
      ? `${count} connections were reset`
      : `${count} connections were reset, ${percent(Math.min(1, share))} of those open`;
  const grown = `full handshakes ${timesText(growth ?? 0)} the usual rate`;
  const evidence: Evidence[] = [
    {
      name: 'change',
      value: change.to - change.from,
      unit: change.of === 'nodes' ? '{node}' : '{balancer}',
      text: change.text,
    },
    { name: 'resets', value: count, unit: '{connection}', text: lost },
    { name: 'full_handshakes', value: growth, unit: '1', text: grown },
    {
      name: 'fair_share',
      value: change.fairShare,
      unit: '1',
      text: `consistent hashing with tracked flows would have cost about ${percent(change.fairShare)}`,
    },
  ];
  if (misses !== null) {
    const text = `${Math.round(misses)} flows reached a node that does not know them`;
    evidence.push({ name: 'flow_table_misses', value: Math.round(misses), unit: '{flow}', text });
  }
  return {
    identity: FLEET,
    place: {},
    severity: settings.severity,
    summary: `${change.text.charAt(0).toUpperCase()}${change.text.slice(1)}: ${lost}; ${grown}.`,
    evidence,
  };
}
