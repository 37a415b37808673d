import type { Alert, Place } from './alert.ts';
import type { Incident } from './incident.ts';

/** What an incident touches: the places of the members that fire, of all when none does. Each list is sorted. */
export interface BlastRadius {
  readonly services: readonly string[];
  readonly regions: readonly string[];
  readonly clusters: readonly string[];
  readonly zones: readonly string[];
  readonly hosts: readonly string[];
  readonly balancers: readonly string[];
  readonly listeners: readonly string[];
  /** One per burning budget: an SLO and where its group lies. */
  readonly sloGroups: readonly { readonly slo: string; readonly place: Place }[];
}

/** The members that an incident is about now: those that fire, or all once none does. */
export function presentAlerts({ members }: Incident): readonly Alert[] {
  const firing = members.filter(({ state }) => state === 'firing');
  return (firing.length > 0 ? firing : members).map(({ alert }) => alert);
}

export function blastRadius(incident: Incident): BlastRadius {
  const alerts = presentAlerts(incident);
  const named = (part: keyof Place): readonly string[] =>
    [...new Set(alerts.flatMap(({ place }) => place[part] ?? []))].sort();
  return {
    services: named('service'),
    regions: named('region'),
    clusters: named('cluster'),
    zones: named('zone'),
    hosts: named('host'),
    balancers: named('balancer'),
    listeners: named('listener'),
    sloGroups: alerts.flatMap(({ labels, place, burn }) => {
      const slo = labels.get('slo');
      return burn === null || slo === undefined ? [] : [{ slo, place }];
    }),
  };
}

const NAMES_SHOWN = 3;

/** `cluster checkout, zones a and b, 2 SLO groups`; empty when nothing is known of where it is. */
export function blastRadiusText(radius: BlastRadius): string {
  const parts = [
    named('region', radius.regions),
    named('cluster', radius.clusters),
    named('zone', radius.zones),
    named('host', radius.hosts),
    named('balancer', radius.balancers),
    named('listener', radius.listeners),
    radius.sloGroups.length === 0 ? '' : counted(radius.sloGroups.length, 'SLO group'),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function named(noun: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  if (names.length > NAMES_SHOWN + 1)
    return `${counted(names.length, noun)} (${names.slice(0, NAMES_SHOWN).join(', ')}, ...)`;
  return `${noun}${names.length === 1 ? '' : 's'} ${[names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')}`;
}
