import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { capacitiesOf, type HostCounters, hostsByCluster } from './hosts.ts';
import { isEvidenced, windowsBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { percent, timesText } from './words.ts';
import { requestsByZone, usedByZone, utilizations, type ZoneLoad, type ZoneSums } from './zone-loads.ts';

const WEEK_MS = 7 * 86_400_000;
/** The time that is held is judged in so many slices; a deploy or a lull may spoil one in six. */
const SLICES = 12;
const SPOILED_MAX = 2;
/** An alert that fires stays while half of the slices are skewed. */
const STAYS_WITH = 6;

/** Load per capacity of the hottest zone beside that of the whole cluster. */
interface Skew {
  readonly zone: string;
  readonly factor: number;
  /** Utilization 0 to 1 of the zone and the cluster, or requests per host. */
  readonly hot: number;
  readonly mean: number;
}

type SkewIn = (from: EpochMs, to: EpochMs) => Skew | null;

/**
 * One zone of a cluster carries more than its capacity's share for hours. Every objective may be met and averages hide
 * it, until that zone has no room left. Told by the utilization of hosts where balancers know it, else by requests
 * beside capacity (as configured or measured, else one per host that takes requests).
 */
export const zoneSkew: Detector = {
  name: ALERT.zoneSkew,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    const reported = reportedClusters(view.balancers(now));
    const byUse = utilizations(view);
    const capacities = capacitiesOf(view, now);
    const hosts = hostsByCluster(view);
    for (const cluster of [...new Set([...byUse.keys(), ...hosts.keys()])].sort()) {
      if (!reported.has(cluster)) continue;
      const zones = byUse.get(cluster);
      const isByUse = zones !== undefined && zones.size > 1;
      const skewIn: SkewIn = isByUse
        ? (from, to) => useSkew(zones, from, to, settings)
        : (from, to) => loadSkew(hosts.get(cluster) ?? [], capacities.get(cluster), from, to, settings);
      const judged = judge(cluster, end, skewIn, input);
      if (judged.kind === 'skewed') holding.push(toFinding(cluster, judged, skewIn, end, isByUse, settings));
      for (const key of judged.clear) clear.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string, zone: string): Labels =>
  labelsOf([
    ['cluster', cluster],
    ['zone', zone],
  ]);

type Judged =
  | { readonly kind: 'skewed'; readonly skew: Skew; readonly clear: readonly string[] }
  | { readonly kind: 'even'; readonly clear: readonly string[] };

/** One zone has been the hottest, and hot enough, for nearly all slices. */
function judge(cluster: string, end: EpochMs, skewIn: SkewIn, { settings, firingSince }: DetectionInput): Judged {
  const heldFor = threshold(settings, 'heldFor');
  const factor = threshold(settings, 'maxOverMean');
  const whole = skewIn(epochMs(end - heldFor), end);
  if (whole === null) return { kind: 'even', clear: [] };
  const isFiring = firingSince.has(labelsKey(identityOf(cluster, whole.zone)));
  const clear = [...firingSince.keys()].filter(
    (key) => key.startsWith(clusterPrefix(cluster)) && key !== labelsKey(identityOf(cluster, whole.zone)),
  );
  const even: Judged = { kind: 'even', clear: [...clear, labelsKey(identityOf(cluster, whole.zone))] };
  if (whole.factor < factor && !isFiring) return even;
  const isSkewed = ([from, to]: readonly [EpochMs, EpochMs]): boolean => {
    const slice = skewIn(from, to);
    return slice !== null && slice.zone === whole.zone && slice.factor >= factor;
  };
  const slices = windowsBefore(end, heldFor / SLICES, SLICES);
  // What is held for six hours was so six hours ago.
  if (!isFiring && !isSkewed(slices[SLICES - 1] as readonly [EpochMs, EpochMs])) return even;
  const spoiledMax = isFiring ? SLICES - STAYS_WITH : SPOILED_MAX;
  let spoiled = 0;
  for (const slice of slices) {
    if (!isSkewed(slice)) spoiled += 1;
    if (spoiled > spoiledMax) return even;
  }
  return { kind: 'skewed', skew: whole, clear };
}

/** Keys of all zones of a cluster begin so. */
const clusterPrefix = (cluster: string): string => labelsKey(identityOf(cluster, '')).replace(/""}$/, '');

function useSkew(zones: ZoneSums, from: EpochMs, to: EpochMs, settings: DetectorSettings): Skew | null {
  const skew = skewOf(usedByZone(zones, from, to));
  return skew === null || skew.hot < threshold(settings, 'minUtilization') ? null : skew;
}

function loadSkew(
  hosts: readonly HostCounters[],
  capacities: ReadonlyMap<string, number> | undefined,
  from: EpochMs,
  to: EpochMs,
  settings: DetectorSettings,
): Skew | null {
  const zones = requestsByZone(hosts, capacities, from, to);
  const skew = skewOf(zones);
  const hot = zones.find(({ zone }) => zone === skew?.zone);
  if (skew === null || hot === undefined) return null;
  const events = zones.reduce((sum, { load }) => sum + load, 0);
  const rule = { minEvents: threshold(settings, 'minEvents'), minExpected: threshold(settings, 'minExpected') };
  return isEvidenced(events, skew.mean * hot.capacity, rule) ? skew : null;
}

/** Null with fewer than two zones, or no load. */
function skewOf(zones: readonly ZoneLoad[]): Skew | null {
  let load = 0;
  let capacity = 0;
  let hottest: ZoneLoad | null = null;
  for (const zone of zones) {
    load += zone.load;
    capacity += zone.capacity;
    if (hottest === null || zone.load / zone.capacity > hottest.load / hottest.capacity) hottest = zone;
  }
  if (zones.length < 2 || hottest === null || !(load > 0)) return null;
  const hot = hottest.load / hottest.capacity;
  const mean = load / capacity;
  return { zone: hottest.zone, factor: hot / mean, hot, mean };
}

function toFinding(
  cluster: string,
  { skew }: { readonly skew: Skew },
  skewIn: SkewIn,
  end: EpochMs,
  isByUse: boolean,
  settings: DetectorSettings,
): Finding {
  const { zone, factor, hot, mean } = skew;
  const heldFor = threshold(settings, 'heldFor');
  const hours = Math.round(heldFor / 3_600_000);
  const figures = isByUse
    ? `its hosts are used ${percent(hot)}, all hosts ${percent(mean)}`
    : `${hot.toFixed(0)} requests per unit of its capacity, ${mean.toFixed(0)} in the whole cluster`;
  const evidence: Evidence[] = [
    { name: 'max_over_mean', value: factor, unit: '1', text: `${timesText(factor)} the cluster's mean for ${hours} h` },
    { name: isByUse ? 'utilization' : 'load', value: hot, unit: '1', text: figures },
  ];
  const ago = epochMs(end - WEEK_MS);
  const before = skewIn(epochMs(ago - heldFor), ago);
  if (before !== null) {
    const text = `a week before: ${timesText(before.factor)} the mean, in zone ${before.zone}`;
    evidence.push({ name: 'week_before', value: before.factor, unit: '1', text });
  }
  return {
    identity: identityOf(cluster, zone),
    place: { cluster, zone },
    severity: settings.severity,
    summary: `Zone ${zone} of cluster ${cluster} carries ${timesText(factor)} its share for ${hours} h: ${figures}.`,
    evidence,
  };
}
