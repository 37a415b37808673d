import type { BalancerState } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Severity } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { type Detection, type DetectionInput, type Detector, type Finding, threshold } from './detector.ts';
import { type Region, regionsOf } from './regions.ts';

/** One balancer alone is no region that is lost. */
const REGION_MIN = 2;

/**
 * We have gone blind. A ticket per balancer that has stopped reporting, or one for a region whose balancers all have;
 * one page when every balancer that some SLO has had is silent, because then nothing else can page for it.
 */
export const telemetryLost: Detector = {
  name: ALERT.telemetryLost,
  detect({ view, now, settings, firingSince }: DetectionInput): Detection {
    const balancers = view.balancers(now);
    const limitOf = (balancer: BalancerState): number =>
      Math.max(threshold(settings, 'silentFor'), threshold(settings, 'ownIntervals') * balancer.interval);
    const silent = (balancer: BalancerState): boolean => now - balancer.newestPointAt >= limitOf(balancer);
    const lost = lostRegions(balancers);
    const isTold = (one: BalancerState): boolean =>
      one.stale && (!lost.some(({ name }) => name === one.region) || firingSince.has(keyOf(one)));
    const holding: Finding[] = [
      ...lost.map((region) => silentRegion(region, now, settings.severity)),
      ...balancers.filter(isTold).map((balancer) => staleBalancer(balancer, now, settings.severity)),
    ];
    const blind = blindSlos(balancers, silent);
    if (blind.length > 0) holding.push(blindness(blind, balancers, now));
    return { holding, undecided: new Set() };
  },
};

/** Regions all of whose balancers, two at least, are silent while another region is heard. */
function lostRegions(balancers: readonly BalancerState[]): readonly Region[] {
  if (balancers.every(({ stale }) => stale)) return [];
  return regionsOf(balancers).filter(
    ({ name, balancers: own }) => name !== null && own.length >= REGION_MIN && own.every(({ stale }) => stale),
  );
}

/** SLOs all of whose balancers are silent, in the order of their ids. */
function blindSlos(
  balancers: readonly BalancerState[],
  silent: (balancer: BalancerState) => boolean,
): readonly string[] {
  const heard = new Map<string, boolean>();
  for (const balancer of balancers) {
    for (const slo of balancer.slos) heard.set(slo, (heard.get(slo) ?? false) || !silent(balancer));
  }
  return [...heard]
    .filter(([, isHeard]) => !isHeard)
    .map(([slo]) => slo)
    .sort();
}

const minutesSince = (at: EpochMs, now: EpochMs): number => Math.floor((now - at) / 60_000);

const identityOf = ({ id }: BalancerState): Labels => labelsOf([['balancer', id]]);
const keyOf = (balancer: BalancerState): string => labelsKey(identityOf(balancer));

/** Told once: that all of them are silent says more than each. */
function silentRegion({ name, identity, balancers }: Region, now: EpochMs, severity: Severity): Finding {
  const minutes = minutesSince(epochMs(Math.max(...balancers.map(({ newestPointAt }) => newestPointAt))), now);
  const all = `${balancers.length} of ${balancers.length} balancers of region ${name}`;
  return {
    identity,
    place: { region: name ?? '' },
    severity,
    summary: `Region ${name} is silent: none of its ${balancers.length} balancers has sent metrics for ${minutes} min.`,
    evidence: [
      { name: 'balancers', value: balancers.length, unit: '{balancer}', text: `${all} are silent` },
      { name: 'silent_minutes', value: minutes, unit: 'min', text: `last point ${minutes} min ago` },
    ],
  };
}

function staleBalancer(balancer: BalancerState, now: EpochMs, severity: Severity): Finding {
  const minutes = minutesSince(balancer.newestPointAt, now);
  return {
    identity: identityOf(balancer),
    place: { balancer: balancer.id, ...(balancer.zone === null ? {} : { zone: balancer.zone }) },
    severity,
    summary: `Balancer ${balancer.id} has sent no metrics for ${minutes} min.`,
    evidence: [{ name: 'silent_minutes', value: minutes, unit: 'min', text: `last point ${minutes} min ago` }],
  };
}

function blindness(slos: readonly string[], balancers: readonly BalancerState[], now: EpochMs): Finding {
  const feeding = balancers.filter((balancer) => balancer.slos.some((slo) => slos.includes(slo)));
  const newest = Math.max(...feeding.map((balancer) => balancer.newestPointAt)) as EpochMs;
  const minutes = minutesSince(newest, now);
  return {
    identity: labelsOf([['scope', 'slo']]),
    place: {},
    // Nothing else can page for these SLOs now.
    severity: 'page',
    summary: `No balancer of ${slos.join(', ')} has sent metrics for ${minutes} min: nothing can be said about these budgets.`,
    evidence: [
      { name: 'slos', value: slos.join(', '), text: `SLOs without data: ${slos.join(', ')}` },
      { name: 'balancers', value: feeding.length, text: `${feeding.length} balancers silent` },
    ],
  };
}
