import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type Harm, harmOf } from './neighbour-harm.ts';
import { balancersText, placeOf } from './regions.ts';
import { baselineBefore, baselineEnd } from './robust-stats.ts';
import { type Service, type ServiceCount, SHARED, serviceCounts } from './service-shares.ts';
import { logPoissonTail } from './two-samples.ts';
import { percent, timesText } from './words.ts';

const HOUR_MS = 3_600_000;
/**
 * What has grown by less than this beside the hour before is not looked at further: a jump is seen soon, and baselines
 * of every service are much work. Ours.
 */
const GROWN = 1.2;
/** An alert that fires stays while its figures are above this part of their limits. */
const STAYS_ABOVE = 0.75;

/** A service that asks far more of shared balancers than usual. */
interface Jump {
  readonly count: ServiceCount;
  readonly share: number;
  readonly usualShare: number;
  /** Times the usual rate; infinite for what is new. */
  readonly growth: number;
}

/**
 * One service suddenly takes a far larger share of the balancers that it shares, and the others on them suffer. That
 * all of them grow is no such thing, nor is one that grows and harms nobody.
 */
export const noisyNeighbour: Detector = {
  name: ALERT.noisyNeighbour,
  detect(input: DetectionInput): Detection {
    const { view, now, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const all = view.balancers(now);
    const counts = serviceCounts(
      view,
      all.filter(({ stale }) => !stale),
    );
    const jumps = counts.flatMap((count) => jumpOf(count, input, end) ?? []);
    const holding = groupsOf(jumps, firingSince).flatMap((group) => {
      const service = serviceOf(group, counts, firingSince);
      const harm = harmIn(group, service, counts, input, end);
      return harm.found.length === 0 ? [] : [toFinding(group, service, harm, input, end)];
    });
    // Of balancers that are silent nothing is known, and a service that only they told of has not calmed down.
    const silent = all.some(({ stale }) => stale);
    const told = new Set(counts.map(({ service }) => keyOf(service)));
    const clear = (key: string): boolean => !silent && told.has(key);
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear(key))) };
  },
};

const identityOf = ({ kind, name }: Service): Labels => labelsOf([[kind, name]]);
const keyOf = (service: Service): string => labelsKey(identityOf(service));

/** Null where the service is as it is at other times. */
function jumpOf(count: ServiceCount, { settings, firingSince }: DetectionInput, end: EpochMs): Jump | null {
  const { own } = count;
  const windowMs = threshold(settings, 'holdFor');
  const from = epochMs(end - windowMs);
  const events = own.range(from, end);
  if (events < threshold(settings, 'minEvents')) return null;
  const since = firingSince.get(keyOf(count.service));
  const hour = own.range(epochMs(from - HOUR_MS), from) / (HOUR_MS / windowMs);
  if (since === undefined && events < GROWN * hour) return null;
  const all = count.all();
  const middle = epochMs(end - Math.round(windowMs / 20_000) * 10_000);
  const stays = since === undefined ? 1 : STAYS_ABOVE;
  const until = baselineEnd(from, windowMs, since);
  const usualRate = baselineBefore(all.firstDataAt, until, (a, b) => own.range(a, b) / (b - a))?.middle;
  const usualShare = baselineBefore(all.firstDataAt, until, (a, b) => {
    const total = all.range(a, b);
    return total < threshold(settings, 'minExpected') ? null : own.range(a, b) / total;
  })?.middle;
  if (usualRate === undefined || usualShare === undefined) return null;
  const isAbove = (start: EpochMs): boolean => {
    const share = own.range(start, end) / Math.max(1, all.range(start, end));
    return (
      share >= stays * threshold(settings, 'minShare') &&
      share - usualShare >= stays * threshold(settings, 'shareRise') &&
      own.range(start, end) >= stays * threshold(settings, 'aboveUsual') * usualRate * (end - start)
    );
  };
  // What was so in the first half of the window only is over.
  if (!isAbove(from) || !isAbove(middle)) return null;
  const due = usualRate * windowMs;
  if (logPoissonTail(events, Math.max(1, due)) > Math.log(threshold(settings, 'chance'))) return null;
  return {
    count,
    share: own.range(middle, end) / all.range(middle, end),
    usualShare,
    growth: due > 0 ? events / due : Number.POSITIVE_INFINITY,
  };
}

type Group = readonly [Jump, ...Jump[]];

/** What jumps on the same balancers is told once: by what fires already, else by cluster, else by the larger rise. */
function groupsOf(jumps: readonly Jump[], firingSince: ReadonlyMap<string, EpochMs>): readonly Group[] {
  const isFiring = ({ count }: Jump): number => Number(firingSince.has(keyOf(count.service)));
  const isCluster = ({ count }: Jump): number => Number(count.service.kind === 'cluster');
  const rise = ({ share, usualShare }: Jump): number => share - usualShare;
  const waiting = [...jumps].sort(
    (a, b) => isFiring(b) - isFiring(a) || isCluster(b) - isCluster(a) || rise(b) - rise(a),
  );
  const groups: Group[] = [];
  for (let head = waiting.shift(); head !== undefined; head = waiting.shift()) {
    const ids = new Set(head.count.balancers.map(({ id }) => id));
    const beside = waiting.filter(({ count }) => count.balancers.some(({ id }) => ids.has(id)));
    for (const one of beside) waiting.splice(waiting.indexOf(one), 1);
    groups.push([head, ...beside]);
  }
  return groups;
}

/**
 * What the alert is about: where one fires already about a cluster, and now only a listener stands out or the other way
 * round, nothing says that these are two services.
 */
function serviceOf(
  [{ count: head }]: Group,
  counts: readonly ServiceCount[],
  firingSince: ReadonlyMap<string, EpochMs>,
): Service {
  const ids = new Set(head.balancers.map(({ id }) => id));
  const known = counts.find(
    ({ service, balancers }) =>
      service.kind !== head.service.kind && firingSince.has(keyOf(service)) && balancers.some(({ id }) => ids.has(id)),
  );
  return firingSince.has(keyOf(head.service)) ? head.service : (known?.service ?? head.service);
}

/** What those suffer that have not grown themselves. */
function harmIn(
  group: Group,
  noisy: Service,
  counts: readonly ServiceCount[],
  input: DetectionInput,
  end: EpochMs,
): Harm {
  const { view, settings, firingSince } = input;
  const [{ count }] = group;
  const windowMs = threshold(settings, 'holdFor');
  const from = epochMs(end - windowMs);
  const since = firingSince.get(keyOf(noisy));
  const until = baselineEnd(from, windowMs, since);
  const middle = epochMs(end - Math.round(windowMs / 20_000) * 10_000);
  const names = (kind: Service['kind']): string[] =>
    group.flatMap((one) => (one.count.service.kind === kind ? [one.count.service.name] : []));
  const [clusters, listeners] = [names('cluster'), names('listener')];
  // Many name a listener like the cluster behind it.
  const own = new Set([noisy.name, ...clusters, ...listeners]);
  const beside = new Set(count.balancers.flatMap((one) => one.clusters));
  const grown = threshold(settings, 'othersBelow');
  const others = counts.filter(({ service, own: requests }) => {
    if (service.kind !== 'cluster' || !beside.has(service.name) || own.has(service.name)) return false;
    const usual = baselineBefore(requests.firstDataAt, until, (a, b) => requests.range(a, b) / (b - a))?.middle ?? 0;
    return usual > 0 && requests.range(middle, end) < grown * usual * (end - middle);
  });
  const where = {
    balancers: count.balancers,
    clusters: others.map(({ service }) => service.name),
    listeners,
    from,
    end,
    until,
    stays: since === undefined ? 1 : STAYS_ABOVE,
  };
  return harmOf(view, settings, where);
}

function toFinding(
  group: Group,
  service: Service,
  harm: Harm,
  { settings, firingSince }: DetectionInput,
  end: EpochMs,
): Finding {
  const [head] = group;
  const { balancers } = head.count;
  const identity = identityOf(service);
  const since = firingSince.get(keyOf(service)) ?? end;
  const where = balancersText(balancers);
  const evidence: Evidence[] = [
    ...sorted(group).map(({ count, share, usualShare, growth }) => ({
      name: `${count.service.kind === service.kind ? '' : `${count.service.kind}_`}${count.measure}`,
      value: share,
      unit: '1',
      text: `${nameOf(count.service)} takes ${percent(share)} of the ${SHARED[count.measure]} (usual: ${percent(usualShare)}), ${growthText(growth)}`,
    })),
    ...harm.found,
  ];
  if (harm.untold.length > 0) {
    evidence.push({ name: 'missing', value: harm.untold.join(', '), text: `not told: ${harm.untold.join(', ')}` });
  }
  const { share, usualShare, count } = head;
  const what = `${capital(nameOf(count.service))} takes ${percent(share)} of the ${SHARED[count.measure]} of ${where} (usual: ${percent(usualShare)})`;
  return {
    identity,
    place: { [service.kind]: service.name, ...(service.kind === 'listener' && placeOf(balancers)) },
    severity: settings.severity,
    summary: `${what}, and those that share them suffer: ${harm.found[0]?.text}.`,
    evidence,
    began: epochMs(since - threshold(settings, 'holdFor')),
  };
}

const sorted = (group: Group): readonly Jump[] =>
  [...group].sort((a, b) => b.share - b.usualShare - (a.share - a.usualShare));

const nameOf = ({ kind, name }: Service): string => `${kind} ${name}`;
const growthText = (growth: number): string =>
  Number.isFinite(growth) ? `${timesText(growth)} its usual rate` : 'and usually asks for none';
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
