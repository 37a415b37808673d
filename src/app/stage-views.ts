import {
  BALANCER_HISTOGRAM,
  BALANCER_STAGE_PREFIX,
  type BalancerState,
  type FeatureView,
} from '../aggregate/features.ts';
import type { HistogramSeries } from '../aggregate/histogram-cells.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE } from '../base/units.ts';
import { type Distribution, distributionOf } from '../detect/distribution.ts';
import type { StagePlaceView, StagesAsked, StagesView, StageView } from '../model/history-views.ts';
import { betterFidelity, STAGES, type StageFidelity, type StageName } from '../model/stages.ts';
import { heardSince, stepFor, stepsOf } from './time-steps.ts';

const REQUESTS = 'http.server.request.duration';
const USUAL_MS = HOUR;
const KEPT_MS = 8 * DAY;
/** Stages of single balancers are kept for so long. */
const PLACES_KEPT_MS = 3 * HOUR;
const PLACES_MAX = 200;
const SLOWEST = 0.01;

/** The five stages of requests over time, what they add to the slowest requests, and who tells them how well. */
export function stages(view: FeatureView, asked: StagesAsked, now: EpochMs): StagesView | null {
  const watermark = view.watermark(now);
  if (watermark === null) return null;
  const all = view.balancers(now);
  const isPlace = asked.zone !== null || asked.balancer !== null;
  const inScope = all.filter((one) => isIn(one, asked));
  const [from, to] = rangeOf(view, asked, watermark, isPlace ? PLACES_KEPT_MS : KEPT_MS, now);
  const stepMs = stepFor(to - from, MINUTE);
  const ids = new Set(inScope.map(({ id }) => id));
  const requests = isPlace ? [] : inCluster(view.histograms(REQUESTS), asked.cluster, true);
  const whole = distributionOf(requests, from, to);
  const placesFrom = epochMs(Math.max(from, to - PLACES_KEPT_MS));
  return {
    ...asked,
    from: formatInstant(from),
    to: formatInstant(to),
    stepSeconds: stepMs / 1000,
    requests: { count: whole.count, p50: whole.quantile(0.5), p99: whole.quantile(0.99) },
    stages: STAGES.map((stage) => {
      const series = isPlace
        ? ofBalancers(view, stage, ids)
        : inCluster(view.histograms(`lb.stage.${stage}.duration`), asked.cluster, false);
      return toStage(stage, series, inScope, whole, [from, to], stepMs);
    }),
    places: placesOf(view, inScope, [placesFrom, to]),
    clusters: [...new Set(all.flatMap(({ clusters }) => clusters))].sort(),
    zones: [...new Set(all.flatMap(({ zone }) => zone ?? []))].sort(),
    balancers: all.map(({ id }) => id).sort(),
  };
}

const isIn = ({ id, zone, clusters }: BalancerState, asked: StagesAsked): boolean =>
  (asked.balancer === null || asked.balancer === id) &&
  (asked.zone === null || asked.zone === zone) &&
  (asked.cluster === null || clusters.includes(asked.cluster));

/** Whole minutes, within what is kept; an hour unless asked otherwise. */
function rangeOf(
  view: FeatureView,
  asked: StagesAsked,
  watermark: EpochMs,
  keptMs: number,
  now: EpochMs,
): readonly [EpochMs, EpochMs] {
  const given = (text: string | null): number | undefined => (text === null ? undefined : parseInstant(text));
  const to = Math.floor(Math.min(watermark, given(asked.to) ?? watermark) / MINUTE) * MINUTE;
  const from = Math.max(watermark - keptMs, Math.min(given(asked.from) ?? to - USUAL_MS, to - MINUTE));
  return [epochMs(Math.max(Math.floor(from / MINUTE) * MINUTE, heardSince(view, now))), epochMs(to)];
}

/** Series of one cluster and, unless `own`, those that are told without one; all where none is asked for. */
const inCluster = (all: readonly HistogramSeries[], cluster: string | null, own: boolean): readonly HistogramSeries[] =>
  all.filter(({ labels }) => {
    const of = labels.get('cluster');
    return cluster === null || of === cluster || (!own && of === undefined);
  });

function ofBalancers(view: FeatureView, stage: StageName, ids: ReadonlySet<string>): readonly HistogramSeries[] {
  const name = stage === 'accept_queue' ? BALANCER_HISTOGRAM.acceptQueue : `${BALANCER_STAGE_PREFIX}${stage}`;
  return view.histograms(name).filter(({ labels }) => ids.has(labels.get('balancer') ?? ''));
}

type Range = readonly [EpochMs, EpochMs];

function toStage(
  stage: StageName,
  series: readonly HistogramSeries[],
  balancers: readonly BalancerState[],
  whole: Distribution,
  [from, to]: Range,
  stepMs: number,
): StageView {
  const told = distributionOf(series, from, to);
  return {
    stage,
    fidelity: bestOf(stage, balancers),
    balancers: fidelitiesOf(stage, balancers),
    ...figures(told),
    tailShare: tailShareOf(told, whole),
    points:
      told.count === 0
        ? []
        : stepsOf(from, to, stepMs).map(([a, b]) => ({
            at: formatInstant(b),
            ...figures(distributionOf(series, a, b)),
          })),
  };
}

const figures = (told: Distribution) => ({
  count: told.count,
  p50: told.quantile(0.5),
  p95: told.quantile(0.95),
  p99: told.quantile(0.99),
});

/**
 * A stage that takes longer than what lies between the median and the 99th percentile of whole requests makes a usual
 * request one of the slowest hundredth: how many such stages there were, beside that hundredth.
 */
function tailShareOf(told: Distribution, whole: Distribution): number | null {
  const [p50, p99] = [whole.quantile(0.5), whole.quantile(0.99)];
  if (told.count === 0 || p50 === null || p99 === null || p99 <= p50) return null;
  return Math.min(1, told.above(p99 - p50) / (SLOWEST * whole.count));
}

const bestOf = (stage: StageName, balancers: readonly BalancerState[]): StageFidelity =>
  balancers.reduce<StageFidelity>((best, one) => betterFidelity(best, one.stages[stage]), 'absent');

function fidelitiesOf(stage: StageName, balancers: readonly BalancerState[]): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { stages: known } of balancers) found[known[stage]] = (found[known[stage]] ?? 0) + 1;
  return found;
}

/** The same by zone and by balancer. */
function placesOf(
  view: FeatureView,
  balancers: readonly BalancerState[],
  [from, to]: Range,
): readonly StagePlaceView[] {
  const zones = [...new Set(balancers.flatMap(({ zone }) => zone ?? []))].sort();
  const named: readonly (readonly [StagePlaceView['kind'], string, readonly BalancerState[]])[] = [
    ...zones.map((zone) => ['zone', zone, balancers.filter((one) => one.zone === zone)] as const),
    ...balancers.slice(0, PLACES_MAX).map((one) => ['balancer', one.id, [one]] as const),
  ];
  const byBalancer = new Map(STAGES.map((stage) => [stage, seriesByBalancer(view, stage)]));
  return named.map(([kind, name, members]) => ({
    kind,
    name,
    stages: STAGES.map((stage) => {
      const series = members.flatMap(({ id }) => byBalancer.get(stage)?.get(id) ?? []);
      return { stage, fidelity: bestOf(stage, members), ...figures(distributionOf(series, from, to)) };
    }),
  }));
}

function seriesByBalancer(view: FeatureView, stage: StageName): ReadonlyMap<string, readonly HistogramSeries[]> {
  const found = new Map<string, HistogramSeries[]>();
  const name = stage === 'accept_queue' ? BALANCER_HISTOGRAM.acceptQueue : `${BALANCER_STAGE_PREFIX}${stage}`;
  for (const series of view.histograms(name)) {
    const balancer = series.labels.get('balancer') ?? '';
    found.set(balancer, [...(found.get(balancer) ?? []), series]);
  }
  return found;
}
