import type { BalancerState, FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { cpuReader } from './balancer-cpu.ts';
import { byBalancer } from './by-balancer.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { balancersText, namesText, placeOf, regionsOf } from './regions.ts';
import { windowsBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { percent, timesText } from './words.ts';

/** The time that is held is judged in so many windows, fewer where balancers push less often. */
const WINDOWS = 5;
const STEP_MS = 10_000;
/** Own push intervals that a window must hold. */
const READINGS = 2;
/** An alert that fires stays while its figures are above this part of the limit. */
const STAYS_ABOVE = 0.9;

/** Something that balancers should share evenly. */
interface Measure {
  readonly name: 'connections' | 'handshakes' | 'cpu';
  readonly what: string;
  /** Null where the balancer tells nothing of it. */
  read(balancer: string, from: EpochMs, to: EpochMs): number | null;
  /** Whether there is enough of it to be compared. */
  isEnough(mean: number, most: number): boolean;
  text(value: number): string;
}

/** Balancers that should be alike: of one service in one region. */
interface Group {
  readonly identity: Labels;
  readonly balancers: readonly BalancerState[];
}

interface Hot {
  readonly measure: Measure;
  /** Hottest first. */
  readonly balancers: readonly { readonly state: BalancerState; readonly value: number; readonly factor: number }[];
  readonly mean: number;
}

/**
 * Few balancers of many hold the connections, the handshakes or the CPU time: clients behind few addresses that are
 * hashed by source, or weights of the tier in front. Averages over the fleet look idle while one balancer is full.
 */
export const balancerSkew: Detector = {
  name: ALERT.balancerSkew,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const measures = measuresOf(view, settings);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    for (const group of groupsOf(view.balancers(now))) {
      const key = labelsKey(group.identity);
      const heard = group.balancers.filter(({ stale }) => !stale);
      const hot = measures.flatMap((measure) => hotOf(measure, heard, end, firingSince.has(key), settings) ?? []);
      const began = epochMs((firingSince.get(key) ?? end) - threshold(settings, 'heldFor'));
      if (hot.length > 0) holding.push({ ...toFinding(group, heard, hot, settings), began });
      // What fired on balancers that are silent now has not recovered.
      else if (heard.length === group.balancers.length) clear.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

function groupsOf(balancers: readonly BalancerState[]): readonly Group[] {
  return regionsOf(balancers).flatMap((region) => {
    const services = new Map<string, BalancerState[]>();
    for (const one of region.balancers) {
      const name = `${one.service ?? ''} ${one.flavor}`;
      const list = services.get(name);
      if (list === undefined) services.set(name, [one]);
      else list.push(one);
    }
    return [...services].map(([, members]) => {
      const [first] = members;
      const own: [string, string][] = [['flavor', first?.flavor ?? '']];
      if (first?.service !== undefined) own.push(['service', first.service]);
      return { identity: labelsOf([...region.identity, ...own]), balancers: members };
    });
  });
}

function measuresOf(view: FeatureView, settings: DetectorSettings): readonly Measure[] {
  const cpu = cpuReader(view);
  const handshakes = byBalancer(view.features('tls.handshakes'));
  const open = byBalancer(view.features('connections.open'));
  const readings = new Map([...view.features('connections.open.readings')].map((one) => [labelsKey(one.labels), one]));
  const least = (name: string): number => threshold(settings, name);
  return [
    {
      name: 'connections',
      what: 'open connections',
      read: (balancer, from, to) => openConnections(open.get(balancer) ?? [], readings, from, to),
      isEnough: (mean) => mean >= least('minConnections'),
      text: (value) => `${Number(value.toPrecision(3))} open connections`,
    },
    {
      name: 'handshakes',
      what: 'TLS handshakes',
      read(balancer, from, to) {
        const series = handshakes.get(balancer);
        return series === undefined ? null : series.reduce((sum, one) => sum + one.range(from, to), 0);
      },
      isEnough: (mean) => mean >= least('minHandshakes'),
      text: (value) => `${Number(value.toPrecision(3))} handshakes`,
    },
    {
      name: 'cpu',
      what: 'CPU',
      read(balancer, from, to) {
        const { busy, all } = cpu.read(balancer, from, to);
        return all > 0 ? busy / all : null;
      },
      isEnough: (_, most) => most >= least('minUtilization'),
      text: (value) => `CPU ${percent(value)}`,
    },
  ];
}

/** Mean over the readings of each listener, all listeners together. */
function openConnections(
  series: readonly FeatureSeries[],
  readings: ReadonlyMap<string, FeatureSeries>,
  from: EpochMs,
  to: EpochMs,
): number | null {
  let total: number | null = null;
  for (const one of series) {
    const count = readings.get(labelsKey(one.labels))?.range(from, to) ?? 0;
    if (count > 0) total = (total ?? 0) + one.range(from, to) / count;
  }
  return total;
}

/** Balancers above the limit in every window. */
function hotOf(
  measure: Measure,
  balancers: readonly BalancerState[],
  end: EpochMs,
  isFiring: boolean,
  settings: DetectorSettings,
): Hot | null {
  const heldFor = threshold(settings, 'heldFor');
  const limit = threshold(settings, 'maxOverMean') * (isFiring ? STAYS_ABOVE : 1);
  const whole = factorsOf(measure, balancers, epochMs(end - heldFor), end);
  if (whole === null) return null;
  let hot = whole.loads.filter(({ value }) => value > limit * whole.mean);
  if (hot.length === 0) return null;
  if (!isFiring) {
    const slowest = Math.max(...balancers.map(({ interval }) => interval));
    const windowMs = Math.max(heldFor / WINDOWS, Math.ceil((READINGS * slowest) / STEP_MS) * STEP_MS);
    for (const [from, to] of windowsBefore(end, windowMs, Math.max(1, Math.ceil(heldFor / windowMs)))) {
      const part = factorsOf(measure, balancers, from, to);
      if (part === null) return null;
      const above = new Set(part.loads.filter(({ value }) => value > limit * part.mean).map(({ state }) => state.id));
      hot = hot.filter(({ state }) => above.has(state.id));
    }
  }
  if (hot.length === 0) return null;
  const sorted = hot
    .map(({ state, value }) => ({ state, value, factor: value / whole.mean }))
    .sort((a, b) => b.factor - a.factor);
  return { measure, balancers: sorted, mean: whole.mean };
}

/** Null where there is too little to be compared. Balancers that have none of it are on stand-by. */
function factorsOf(measure: Measure, balancers: readonly BalancerState[], from: EpochMs, to: EpochMs) {
  const loads = balancers.flatMap((state) => {
    const value = measure.read(state.id, from, to);
    return value === null || value <= 0 ? [] : [{ state, value }];
  });
  if (loads.length < 2) return null;
  const mean = loads.reduce((sum, { value }) => sum + value, 0) / loads.length;
  const most = Math.max(...loads.map(({ value }) => value));
  return measure.isEnough(mean, most) ? { loads, mean } : null;
}

function toFinding(
  { identity, balancers }: Group,
  heard: readonly BalancerState[],
  hot: readonly Hot[],
  settings: DetectorSettings,
): Finding {
  const minutes = Math.round(threshold(settings, 'heldFor') / 60_000);
  const [first] = hot as [Hot, ...Hot[]];
  const names = first.balancers.map(({ state }) => state.id);
  const evidence = hot.flatMap((one): Evidence[] => {
    const [most] = one.balancers;
    if (most === undefined) return [];
    const text = `${one.measure.text(most.value)} at ${most.state.id}, ${one.measure.text(one.mean)} on average: ${timesText(most.factor)} the mean`;
    return [{ name: one.measure.name, value: most.factor, unit: '1', text }];
  });
  const times = timesText(first.balancers[0]?.factor ?? 0);
  const are = names.length === 1 ? 'Balancer' : 'Balancers';
  const holds = names.length === 1 ? 'has' : 'have up to';
  return {
    identity,
    place: placeOf(names.length === 1 ? first.balancers.map(({ state }) => state) : balancers),
    severity: settings.severity,
    summary: `${are} ${namesText(names)} of ${heard.length} ${holds} ${times} the mean of ${first.measure.what} among ${balancersText(heard)} for ${minutes} min: clients are spread unevenly, as by the hash of few source addresses.`,
    evidence,
  };
}
