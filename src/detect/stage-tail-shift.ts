import { BALANCER_HISTOGRAM, type FeatureView } from '../aggregate/features.ts';
import type { HistogramSeries } from '../aggregate/histogram-cells.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { STAGES } from '../model/stages.ts';
import { spansBefore } from './baseline.ts';
import { logBinomialTail } from './binomial.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type Distribution, distributionOf } from './distribution.ts';
import {
  type Baseline,
  baselineBefore,
  baselineEnd,
  deviationsAbove,
  toBaseline,
  windowsBefore,
} from './robust-stats.ts';
import { sumWhere } from './sums.ts';
import { percent, timeText } from './words.ts';

const HOUR_MS = 3_600_000;
const HOURS_BACK = 6;
/** Chance that as many requests lie in the usual tail. */
const LOG_CHANCE_MAX = Math.log(1e-8);
/** Spreads of the usual p99, at least a tenth of it, that the p99 must lie above it. */
const DEVIATIONS_MIN = 5;
const LEAST_SPREAD = 0.1;
/** TCP segments sent again that are more than chance, and times the usual. */
const RETRANSMITS_MIN = 100;
const RETRANSMITS_GROWTH = 3;

const REQUESTS = 'http.server.request.duration';
const CANDIDATES = [...STAGES, 'pool_queue'] as const;

/**
 * The slowest requests have become slower while hosts answer as fast as ever: something before, between or behind them
 * takes the time. The stage whose own long durations make up most of the new tail is named.
 */
export const stageTailShift: Detector = {
  name: ALERT.stageTailShift,
  detect(input: DetectionInput): Detection {
    const { view, now, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const history = historyOf(view, now);
    const holding: Finding[] = [];
    const cleared = new Set<string>();
    for (const scope of scopesOf(view)) {
      const key = labelsKey(scope.identity);
      const shift = judge(input, scope, end, history);
      if (shift === 'unknown') continue;
      if (shift === 'usual') cleared.add(key);
      else holding.push(toFinding(input, scope, shift, end));
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !cleared.has(key))) };
  },
};

/** Requests of one cluster, or all where the balancer does not tell clients' requests by cluster. */
interface Scope {
  readonly cluster: string | undefined;
  readonly identity: Labels;
  readonly requests: readonly HistogramSeries[];
}

function scopesOf(view: FeatureView): readonly Scope[] {
  return view.histograms(REQUESTS).map((series) => {
    const cluster = series.labels.get('cluster');
    const identity = labelsOf([cluster === undefined ? ['scope', 'fleet'] : ['cluster', cluster]]);
    return { cluster, identity, requests: [series] };
  });
}

/** Of a scope's cluster, and what is told without one. */
const seriesOf = (view: FeatureView, name: string, { cluster }: Scope): readonly HistogramSeries[] =>
  view.histograms(name).filter(({ labels }) => {
    const own = labels.get('cluster');
    return own === undefined || cluster === undefined || own === cluster;
  });

/** When the oldest balancer was first heard: histograms reach back no further. */
function historyOf(view: FeatureView, now: EpochMs): EpochMs | null {
  const firsts = view.balancers(now).map(({ firstSeenAt }) => firstSeenAt);
  return firsts.length === 0 ? null : epochMs(Math.min(...firsts));
}

type Spans = readonly (readonly [EpochMs, EpochMs])[];

/** As for other baselines, but by the hour where there are enough hours: tails need many requests. */
function spansOf(first: EpochMs | null, until: EpochMs): Spans {
  if (first === null) return [];
  const spans = spansBefore(first, until);
  const hours = windowsBefore(until, HOUR_MS, HOURS_BACK).filter(([from]) => from >= first);
  return hours.length >= HOURS_BACK / 2 && spans.length > hours.length + 1 ? hours : spans;
}

interface Shift {
  readonly from: EpochMs;
  readonly spans: Spans;
  readonly lately: Distribution;
  readonly p99: number;
  readonly usualP99: number;
  readonly backendP95: number;
  readonly usualBackendP95: number;
  /** A stage that takes longer than this makes a request that was as long as most one of the slowest. */
  readonly slack: number;
  /** Requests in the tail beyond those that are usually there. */
  readonly excess: number;
}

function judge(
  { view, settings, firingSince }: DetectionInput,
  scope: Scope,
  end: EpochMs,
  history: EpochMs | null,
): Shift | 'usual' | 'unknown' {
  const windowMs = threshold(settings, 'holdFor');
  const from = epochMs(end - windowMs);
  const minEvents = threshold(settings, 'minEvents');
  const lately = distributionOf(scope.requests, from, end);
  const p99 = lately.quantile(0.99);
  if (p99 === null) return 'unknown';
  if (lately.count < minEvents) return 'usual';
  const spans = spansOf(history, baselineEnd(from, windowMs, firingSince.get(labelsKey(scope.identity))));
  const before = spans.map(([a, b]) => distributionOf(scope.requests, a, b)).filter(({ count }) => count >= minEvents);
  const usual = usualOf(before, (one) => one.quantile(0.99));
  if (usual === null) return 'unknown';
  const isUp =
    p99 >= threshold(settings, 'tailAboveBaseline') * usual.middle &&
    (p99 - usual.middle) * 1000 >= threshold(settings, 'minRise') &&
    deviationsAbove(p99, usual, LEAST_SPREAD * usual.middle) >= DEVIATIONS_MIN;
  if (!isUp) return 'usual';
  const usualShare = usualOf(before, (one) => one.above(usual.middle) / one.count)?.middle ?? 0;
  const hits = lately.above(usual.middle);
  if (logBinomialTail(Math.floor(hits), lately.count, Math.max(usualShare, 1 / minEvents)) > LOG_CHANCE_MAX)
    return 'usual';
  const backend = seriesOf(view, 'lb.stage.backend.duration', scope);
  const backendP95 = distributionOf(backend, from, end).quantile(0.95);
  const usualBackendP95 = usualOf(
    spans.map(([a, b]) => distributionOf(backend, a, b)),
    (one) => one.quantile(0.95),
  )?.middle;
  if (backendP95 === null || usualBackendP95 === undefined) return 'unknown';
  if (backendP95 > threshold(settings, 'backendFlat') * usualBackendP95) return 'usual';
  const middle = usualOf(before, (one) => one.quantile(0.5))?.middle ?? 0;
  const excess = hits - usualShare * lately.count;
  const slack = usual.middle - middle;
  return { from, spans, lately, p99, usualP99: usual.middle, backendP95, usualBackendP95, slack, excess };
}

/** Over the spans that can say it. */
function usualOf(before: readonly Distribution[], value: (one: Distribution) => number | null): Baseline | null {
  return toBaseline(before.map(value).filter((one) => one !== null));
}

/** How much of the new tail a stage's own long durations make up, 0 to 1; null where the stage is not told. */
function shareOf(
  series: readonly HistogramSeries[],
  { from, spans, slack, excess }: Shift,
  end: EpochMs,
): number | null {
  const lately = distributionOf(series, from, end);
  if (lately.count === 0) return null;
  const before = spans.map(([a, b]) => distributionOf(series, a, b)).filter(({ count }) => count > 0);
  const usualShare = usualOf(before, (one) => one.above(slack) / one.count)?.middle ?? 0;
  const own = lately.above(slack) - usualShare * lately.count;
  return Math.min(1, Math.max(0, own / excess));
}

interface Explanation {
  /** A stage, or `network`, `proxy_internal`, `client`, `unattributed`. */
  readonly stage: string;
  readonly share: number | null;
  readonly text: string;
}

function explain(input: DetectionInput, scope: Scope, shift: Shift, shares: Shares, end: EpochMs): Explanation {
  const { view, settings } = input;
  const enough = threshold(settings, 'explainsShare');
  const [first] = [...shares].sort((a, b) => b.share - a.share);
  if (first !== undefined && first.share >= enough) {
    const text = `stage ${first.stage} explains ${percent(first.share)} of the new tail`;
    return { stage: first.stage, share: first.share, text };
  }
  const added = scope.cluster === undefined ? shareOf(view.histograms(BALANCER_HISTOGRAM.added), shift, end) : null;
  if (added !== null && added >= enough) {
    const text = `the balancer itself explains ${percent(added)} of the new tail, in none of its stages`;
    return { stage: 'proxy_internal', share: added, text };
  }
  if (isResending(view, shift, end)) {
    return { stage: 'network', share: null, text: 'TCP sends far more segments again than usual' };
  }
  if (added !== null && STAGES.every((stage) => shares.some((one) => one.stage === stage))) {
    return {
      stage: 'client',
      share: null,
      text: 'every stage and the balancer are as fast as ever: clients send slowly',
    };
  }
  return { stage: 'unattributed', share: null, text: 'no stage that is told explains half of the new tail' };
}

type Shares = readonly { readonly stage: string; readonly share: number }[];

function isResending(view: FeatureView, { from }: Shift, end: EpochMs): boolean {
  const segments = sumWhere(view, 'zone.retransmits', () => true);
  const sent = segments.range(from, end);
  if (sent < RETRANSMITS_MIN) return false;
  const usual = baselineBefore(segments.firstDataAt, from, (a, b) => segments.range(a, b) / (b - a))?.middle;
  return usual !== undefined && sent >= RETRANSMITS_GROWTH * usual * (end - from);
}

function toFinding(input: DetectionInput, scope: Scope, shift: Shift, end: EpochMs): Finding {
  const { view, settings } = input;
  const shares: { stage: string; share: number }[] = [];
  for (const stage of CANDIDATES) {
    const share = shareOf(seriesOf(view, `lb.stage.${stage}.duration`, scope), shift, end);
    if (share !== null) shares.push({ stage, share });
  }
  const { stage, share, text } = explain(input, scope, shift, shares, end);
  const missing = STAGES.filter((one) => !shares.some((known) => known.stage === one));
  const { p99, usualP99, backendP95, usualBackendP95 } = shift;
  const where =
    scope.cluster === undefined ? 'The slowest requests' : `The slowest requests of cluster ${scope.cluster}`;
  const evidence: Evidence[] = [
    { name: 'stage', value: stage, text },
    ...(share === null
      ? []
      : [{ name: 'explained', value: share, unit: '1', text: `${percent(share)} of the new tail` }]),
    { name: 'p99', value: p99, unit: 's', text: `p99 ${timeText(p99)} (usual: ${timeText(usualP99)})` },
    {
      name: 'backend_p95',
      value: backendP95,
      unit: 's',
      text: `p95 of hosts ${timeText(backendP95)} (usual: ${timeText(usualBackendP95)})`,
    },
    ...shares.map((one) => ({
      name: `share_${one.stage}`,
      value: one.share,
      unit: '1',
      text: `${one.stage}: ${percent(one.share)} of the new tail`,
    })),
  ];
  if (missing.length > 0) {
    evidence.push({ name: 'missing', value: missing.join(', '), text: `not told by balancers: ${missing.join(', ')}` });
  }
  return {
    identity: scope.identity,
    place: scope.cluster === undefined ? {} : { cluster: scope.cluster },
    severity: settings.severity,
    summary:
      `${where} take ${timeText(p99)} (p99, usual: ${timeText(usualP99)}) ` +
      `while 95 % of the answers of hosts come as fast as ever: ${text}.`,
    evidence,
  };
}
