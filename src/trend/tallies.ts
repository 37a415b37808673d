import { BALANCER_HISTOGRAM, type BalancerState, type FeatureName, type FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs, HOUR, MINUTE } from '../base/units.ts';
import { cpuReader } from '../detect/balancer-cpu.ts';
import { byBalancer } from '../detect/by-balancer.ts';
import { type Labels, labelsKey, labelsOf, pickLabels } from '../model/labels.ts';
import type { HourlyDurations, TallyName } from '../model/measure.ts';
import { addedByZone } from './added.ts';
import { versionSpans } from './version-spans.ts';

/** Readings of open connections are averaged over so long, and each average stands for its time. */
const OPEN_STEP_MS = 5 * MINUTE;
/** Where a balancer does not say which layer retries. */
const UNNAMED_LAYER = 'balancer';

export type Tallies = { -readonly [K in TallyName]?: number };

export interface TallyRow {
  readonly subject: Labels;
  readonly tallies: Tallies;
  readonly added?: readonly HourlyDurations[];
}

/** What is counted of the hour (from, to], by subject, in the order of the subjects. */
export function hourlyTallies(view: FeatureView, from: EpochMs, to: EpochMs): readonly TallyRow[] {
  const book = new TallyBook(from, to);
  const balancers = view.balancers(to);
  book.sum(view, 'cluster.requests', ['cluster'], 'requests');
  book.sum(view, 'service.bytes', ['cluster', 'listener'], 'bytes');
  book.sum(view, 'zone.requests', ['zone', 'region'], 'requests');
  book.sum(view, 'balancer.requests', ['balancer'], 'requests');
  book.sum(view, 'balancer.errors', ['balancer'], 'errors');
  handshakes(book, view, 'zone.handshakes', ['zone', 'region']);
  handshakes(book, view, 'tls.handshakes', ['listener']);
  handshakes(book, view, 'tls.handshakes', ['balancer']);
  connections(book, view, balancers);
  retries(book, view);
  cpu(book, view);
  versions(book, view);
  for (const { zone, region, durations } of addedByZone(
    view.histograms(BALANCER_HISTOGRAM.added),
    balancers,
    from,
    to,
  )) {
    book.durations(zoneSubject(zone, region), durations);
  }
  return book.rows();
}

const zoneSubject = (zone: string | null, region: string | null): Labels =>
  labelsOf([
    ...(zone === null ? [] : [['zone', zone] as const]),
    ...(region === null ? [] : [['region', region] as const]),
  ]);

class TallyBook {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly #rows = new Map<string, { subject: Labels; tallies: Tallies; added?: readonly HourlyDurations[] }>();

  constructor(from: EpochMs, to: EpochMs) {
    this.from = from;
    this.to = to;
  }

  add(subject: Labels, name: TallyName, amount: number): void {
    const { tallies } = this.#row(subject);
    tallies[name] = (tallies[name] ?? 0) + amount;
  }

  most(subject: Labels, name: TallyName, amount: number): void {
    const { tallies } = this.#row(subject);
    tallies[name] = Math.max(tallies[name] ?? 0, amount);
  }

  durations(subject: Labels, added: readonly HourlyDurations[]): void {
    this.#row(subject).added = added;
  }

  /** Adds up a feature by some of its labels. What has never counted anything is not told. */
  sum(view: FeatureView, feature: FeatureName, by: readonly string[], name: TallyName): void {
    for (const series of view.features(feature)) {
      if (series.firstDataAt === null || series.firstDataAt >= this.to) continue;
      this.add(pickLabels(series.labels, by), name, Math.max(0, series.range(this.from, this.to)));
    }
  }

  /** Those of which something happened in the hour. */
  rows(): readonly TallyRow[] {
    const told = [...this.#rows].filter(
      ([, { tallies, added }]) => added !== undefined || Object.values(tallies).some((amount) => amount > 0),
    );
    return told.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }

  #row(subject: Labels) {
    const key = labelsKey(subject);
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = { subject, tallies: {} };
      this.#rows.set(key, row);
    }
    return row;
  }
}

function handshakes(book: TallyBook, view: FeatureView, feature: FeatureName, by: readonly string[]): void {
  for (const series of view.features(feature)) {
    const count = Math.max(0, series.range(book.from, book.to));
    if (count === 0) continue;
    const resumed = series.labels.get('resumed');
    const subject = subjectOf(series.labels, by);
    book.add(subject, resumed === 'true' ? 'resumed_handshakes' : 'full_handshakes', count);
    if (resumed === undefined) book.add(subject, 'unsaid_handshakes', count);
  }
}

/** A listener that is not told is one of its own, called `""`. */
const subjectOf = (labels: Labels, by: readonly string[]): Labels =>
  by[0] === 'listener' ? labelsOf([['listener', labels.get('listener') ?? '']]) : pickLabels(labels, by);

function connections(book: TallyBook, view: FeatureView, balancers: readonly BalancerState[]): void {
  const { from, to } = book;
  for (const series of view.features('balancer.connections')) {
    const count = Math.max(0, series.range(from, to));
    if (count > 0) book.add(subjectOf(series.labels, ['listener']), 'opened', count);
  }
  const states = new Map(balancers.map((one) => [one.id, one]));
  const readings = new Map([...view.features('connections.open.readings')].map((one) => [labelsKey(one.labels), one]));
  const serving = new Map<string, Labels[]>();
  for (const series of view.features('connections.open')) {
    const counted = readings.get(labelsKey(series.labels));
    const balancer = series.labels.get('balancer') ?? '';
    const interval = states.get(balancer)?.interval ?? OPEN_STEP_MS;
    const stepMs = interval > OPEN_STEP_MS ? HOUR : OPEN_STEP_MS;
    let seconds = 0;
    for (let start: number = from; start < to; start += stepMs) {
      const [a, b] = [epochMs(start), epochMs(start + stepMs)];
      const count = counted?.range(a, b) ?? 0;
      if (count > 0) seconds += ((series.range(a, b) / count) * stepMs) / 1000;
    }
    if (seconds === 0) continue;
    const subject = subjectOf(series.labels, ['listener']);
    book.add(subject, 'connection_seconds', Math.round(seconds));
    serving.set(balancer, [...(serving.get(balancer) ?? []), subject]);
  }
  for (const [balancer, listeners] of serving) {
    const services = Math.max(listeners.length, states.get(balancer)?.clusters.length ?? 0);
    for (const subject of listeners) book.most(subject, 'services_beside', services);
  }
}

function retries(book: TallyBook, view: FeatureView): void {
  for (const series of view.features('cluster.retries')) {
    const cluster = series.labels.get('cluster');
    if (cluster === undefined) continue;
    const count = Math.max(0, series.range(book.from, book.to));
    book.add(labelsOf([['cluster', cluster]]), 'retrying_layers', 0);
    if (count === 0) continue;
    const layer = series.labels.get('layer') ?? UNNAMED_LAYER;
    book.add(
      labelsOf([
        ['cluster', cluster],
        ['layer', layer],
      ]),
      'retries',
      count,
    );
  }
  const layers = new Map<string, number>();
  for (const { subject, tallies } of book.rows()) {
    const cluster = subject.get('cluster');
    if (cluster === undefined || !subject.has('layer') || (tallies.retries ?? 0) === 0) continue;
    layers.set(cluster, (layers.get(cluster) ?? 0) + 1);
  }
  for (const [cluster, count] of layers) book.add(labelsOf([['cluster', cluster]]), 'retrying_layers', count);
}

/** Means of the hour. Cores are the seconds, busy and idle, that the machine had in each of its own. */
function cpu(book: TallyBook, view: FeatureView): void {
  const reader = cpuReader(view);
  const times = byBalancer(view.features('balancer.cpu.time'));
  for (const balancer of reader.balancers) {
    const { busy, all } = reader.read(balancer, book.from, book.to);
    if (all <= 0) continue;
    const subject = labelsOf([['balancer', balancer]]);
    book.add(subject, 'cpu', busy / all);
    const seconds = (times.get(balancer) ?? []).reduce((sum, one) => sum + one.range(book.from, book.to), 0);
    if (seconds > 0) book.add(subject, 'cores', (seconds * 1000) / (book.to - book.from));
  }
}

function versions(book: TallyBook, view: FeatureView): void {
  const requests = byBalancer(view.features('balancer.requests'));
  const errors = byBalancer(view.features('balancer.errors'));
  for (const { balancer, kind, version, from, to } of versionSpans(view.configs(book.to), book.from, book.to)) {
    const subject = labelsOf([['configVersion', version], ...(kind === '' ? [] : [['configKind', kind] as const])]);
    const count = (all: typeof requests): number =>
      (all.get(balancer) ?? []).reduce((sum, one) => sum + Math.max(0, one.range(from, to)), 0);
    book.add(subject, 'requests', count(requests));
    book.add(subject, 'errors', count(errors));
  }
}
