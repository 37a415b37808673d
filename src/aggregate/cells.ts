import { DAY, type EpochMs, HOUR } from '../base/units.ts';
import type { Labels } from '../model/labels.ts';
import type { Slo } from '../slo/slo.ts';
import { BalancerBook, floorToStep, newestPointAt } from './balancer-book.ts';
import { type AttributeTexts, factsOf } from './balancer-facts.ts';
import type { BalancerRecord, BalancerRecordState } from './balancer-record.ts';
import { BracketTarget } from './brackets.ts';
import { CertificateStore } from './certificate-cells.ts';
import { ConfigStore } from './config-cells.ts';
import { type FeatureCounter, type FeatureState, FeatureStore } from './feature-cells.ts';
import type { FeatureName, FeatureView, GaugeName, LevelTarget, PeakName } from './features.ts';
import { type GaugeState, GaugeStore, type GaugeTarget } from './gauge-cells.ts';
import { type HistogramState, HistogramStore, type StageHistogram } from './histogram-cells.ts';
import { type PeakCell, type PeakState, PeakStore } from './peak-cells.ts';
import type { RolloutState } from './rollout-book.ts';
import { SloCellStore } from './slo-cells.ts';
import type { GroupState, SloGroup } from './slo-group.ts';
import { type TotalCounter, type TotalHistogram, type TotalState, TotalStore, type TotalsView } from './total-cells.ts';
import type { SloCells } from './view.ts';

/** How often memory of what has aged out is looked for. */
const SWEEP_EVERY_MS = HOUR;
const GAUGE_KEPT_MS = DAY;
const RUNS_KEPT_MS = 8 * DAY;
/** As long as budgets remember. */
const ROLLOUTS_KEPT_MS = 36 * DAY;
const ENDS_KEPT_MS = 30 * DAY;
const TOTALS_KEPT_MS = DAY;

/** Everything as plain data that structured clone and v8.serialize take. Arrays are copies. */
export interface AggregateState {
  readonly balancers: readonly BalancerRecordState[];
  readonly groups: readonly GroupState[];
  readonly features: readonly FeatureState[];
  readonly gauges: readonly GaugeState[];
  readonly histograms: readonly HistogramState[];
  readonly peaks: readonly PeakState[];
  readonly configs: ReturnType<ConfigStore['snapshot']>;
  readonly certificates: ReturnType<CertificateStore['snapshot']>;
  /** Absent in states of before it was kept. */
  readonly rollouts?: readonly RolloutState[];
  readonly totals?: readonly TotalState[];
}

/** What the binder takes. Each call returns the same cell for the same labels and makes it when first asked for. */
export interface CellSource {
  group(slo: Slo, labels: Labels): SloGroup;
  feature(name: FeatureName, labels: Labels): FeatureCounter;
  /** `source` tells the series of one balancer apart that add up to one gauge. */
  gauge(name: GaugeName, labels: Labels, source: string): GaugeTarget;
  histogram(metric: string, labels: Labels): StageHistogram;
  peak(name: PeakName, labels: Labels): PeakCell;
  /** Counted since the start, by canonical metric. */
  total(metric: string, labels: Labels): TotalCounter;
  totalHistogram(metric: string, labels: Labels): TotalHistogram;
  config(kind: string, version: string): LevelTarget;
  /** Takes ends in seconds since the epoch; `source` as for gauges. */
  certificate(name: string, source: string): LevelTarget;
  /** Successful renewals of a certificate, as the automation counts them. */
  renewals(name: string): ReturnType<CertificateStore['renewals']>;
  balancer(id: string): BalancerRecord;
  /** Notes that a series of this balancer feeds the group. */
  addFeeder(group: SloGroup, balancer: BalancerRecord): void;
  /** Takes what lies around the SLO's threshold (seconds) in this balancer's histograms, where that is no bound. */
  bracket(group: SloGroup, balancer: BalancerRecord, threshold: number): BracketTarget;
  /** To be called before all series are bound again. */
  resetSeriesCounts(): void;
}

/** All cells and the book of balancers. The binder takes cells from it, series add to them, engines read them. */
export interface Aggregate extends SloCells, FeatureView, TotalsView, CellSource {
  /** As BalancerListener. */
  heard(balancer: string, resource: AttributeTexts, newestPointAt: EpochMs, receivedAt: EpochMs): void;
  /**
   * Call first, and after a reload. Groups of an SLO with the same id and generation keep their history; a changed
   * generation starts afresh; groups of SLOs that are gone are dropped. Then bind all series again with a new binder.
   */
  replaceSlos(slos: readonly Slo[]): void;
  snapshot(): AggregateState;
  /**
   * Takes up a snapshot; afterwards everything goes on exactly as from where it was taken. Call before any series is
   * bound.
   */
  restore(state: AggregateState): void;
}

export function createAggregate(): Aggregate {
  const book = new BalancerBook();
  const slos = new SloCellStore();
  const features = new FeatureStore();
  const gauges = new GaugeStore();
  const histograms = new HistogramStore();
  const peaks = new PeakStore();
  const configs = new ConfigStore();
  const certificates = new CertificateStore();
  const totals = new TotalStore();
  let sweptAt = Number.NEGATIVE_INFINITY;

  const sweep = (now: EpochMs): void => {
    if (now - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = now;
    slos.forgetFeeders(book.forgetSilent(now));
    gauges.forgetBefore(now - GAUGE_KEPT_MS);
    configs.forgetBefore(now - RUNS_KEPT_MS);
    configs.rollouts.forgetBefore(now - ROLLOUTS_KEPT_MS);
    certificates.forgetBefore(now - ENDS_KEPT_MS);
    totals.forgetBefore(now - TOTALS_KEPT_MS, now);
    for (const store of [slos, features, histograms]) store.releaseExpired(now);
  };

  return {
    heard(balancer, resource, newestAt, receivedAt) {
      const record = book.record(balancer);
      const before = record.newestPointAt;
      book.heard(balancer, factsOf(resource), newestAt, receivedAt);
      slos.noteHeard(record, before);
      sweep(receivedAt);
    },
    replaceSlos: (next) => slos.replace(next),

    group: (slo, labels) => slos.group(slo, labels),
    feature: (name, labels) => features.counter(name, labels),
    gauge: (name, labels, source) => gauges.cell(name, labels, source),
    histogram: (metric, labels) => histograms.cell(metric, labels),
    peak: (name, labels) => peaks.cell(name, labels),
    total: (metric, labels) => totals.counter(metric, labels),
    totalHistogram: (metric, labels) => totals.histogram(metric, labels),
    config: (kind, version) => configs.cell(kind, version),
    certificate: (name, source) => certificates.cell(name, source),
    renewals: (name) => certificates.renewals(name),
    balancer: (id) => book.record(id),
    addFeeder: (group, balancer) => slos.addFeeder(group, balancer),
    bracket: (group, balancer, threshold) => new BracketTarget(group, balancer.brackets.of(group.slo.id, threshold)),
    resetSeriesCounts: () => book.resetSeriesCounts(),

    groups: () => slos.groups(),
    feed: (group, now) => slos.feed(group, now),
    features: (name) => features.series(name),
    gauges: (name, now) => gauges.readings(name, now, book),
    histograms: (metric) => histograms.series(metric),
    peaks: (name) => peaks.series(name),
    totals: (metric) => totals.totals(metric),
    totalHistograms: (metric) => totals.totalHistograms(metric),
    configs: (now) => configs.runs(now, book),
    rollouts: () => configs.rollouts.rollouts(),
    certificates: (now) => certificates.readings(now, book),
    balancers: (now) => book.known(now).map((record) => record.toState(now)),
    watermark(now) {
      const known = book.known(now);
      const fresh = known.filter((record) => !record.isStale(now));
      const at = newestPointAt(fresh.length > 0 ? fresh : known);
      return at === null ? null : floorToStep(at);
    },

    snapshot: () => ({
      balancers: book.snapshot(),
      groups: slos.snapshot(),
      features: features.snapshot(),
      gauges: gauges.snapshot(),
      histograms: histograms.snapshot(),
      peaks: peaks.snapshot(),
      configs: configs.snapshot(),
      certificates: certificates.snapshot(),
      rollouts: configs.rollouts.snapshot(),
      totals: totals.snapshot(),
    }),
    restore(state) {
      book.restore(state.balancers);
      slos.restore(state.groups, (id) => book.record(id));
      features.restore(state.features);
      gauges.restore(state.gauges);
      histograms.restore(state.histograms);
      peaks.restore(state.peaks);
      configs.restore(state.configs);
      certificates.restore(state.certificates);
      configs.rollouts.restore(state.rollouts ?? []);
      totals.restore(state.totals ?? []);
    },
  };
}
