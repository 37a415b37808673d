import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import { labelsKey } from '../model/labels.ts';
import type { HourlyFigures } from '../model/measure.ts';
import { latencyText, percentText } from '../model/phrases.ts';
import type { ScoreId, ScoreView, TrafficStandard } from '../model/scorecard.ts';
import { addedScore } from './added-score.ts';
import { busiestHour, type PeakZone, zonesAt } from './peak.ts';
import { bySubject, SHAPE, type SubjectHours, sumOf, tallyOf } from './tally.ts';

/** An incident that was opened in the week, by the names of the alerts that were in it by the week's end. */
export interface IncidentFacts {
  readonly id: number;
  readonly alerts: readonly string[];
}

/** What a line came to, before it is held against its target. */
export type Measured =
  | { readonly value: number; readonly detail: string; readonly state?: ScoreView['state'] }
  | { readonly value: null; readonly detail: string };

const HANDSHAKES_MIN = 100;
const SECONDS_AN_HOUR = 3600;
const NAMED_MAX = 3;

/** The lines of the traffic standard, from the hours of a week and its incidents, in whatever order they come. */
export function scoresOf(
  rows: readonly HourlyFigures[],
  incidents: readonly IncidentFacts[],
  standard: TrafficStandard,
): readonly ScoreView[] {
  const limitS = standard.addedLatencyP99Ms / 1000;
  const { amplifying } = standard;
  return [
    score('added_latency_p99', 's', ['below', limitS], addedScore(rows, limitS)),
    score('resumption_at_peak', '1', ['above', standard.resumptionAtPeak], resumption(rows)),
    score('config_budget', '1', ['below', standard.configBudget], configBudget(rows)),
    score('retrying_services', '{service}', ['at_most', standard.retryingServices], retryingServices(rows)),
    score(
      'amplified_incidents',
      '{incident}',
      ['at_most', standard.amplifiedIncidents],
      amplified(incidents, amplifying),
    ),
    score('crowded_pools', '{pool}', ['at_most', standard.crowdedPools], crowdedPools(rows, standard)),
  ];
}

const TITLES: Readonly<Record<ScoreId, string>> = {
  added_latency_p99: 'Latency that balancers add, p99',
  resumption_at_peak: 'TLS resumption at peak',
  config_budget: 'Error budget used by config rollouts',
  retrying_services: 'Services with more than one retrying layer',
  amplified_incidents: 'Incidents that a balancing layer amplified',
  crowded_pools: 'Shared pools with too many long-lived connections',
};

function score(
  id: ScoreId,
  unit: ScoreView['unit'],
  [is, target]: readonly [ScoreView['target']['is'], number],
  measured: Measured,
): ScoreView {
  const common = { id, title: TITLES[id], unit, target: { is, value: target }, detail: measured.detail };
  if (measured.value === null) return { ...common, value: null, state: 'not_known' };
  const { value } = measured;
  const isMet = is === 'below' ? value < target : is === 'above' ? value > target : value <= target;
  return { ...common, value, state: measured.state ?? (isMet ? 'met' : 'missed') };
}

/** Of the zone where fewest resume, in the hour with most requests of clients. */
function resumption(rows: readonly HourlyFigures[]): Measured {
  const hour = busiestHour(rows);
  if (hour === null) return { value: null, detail: 'no balancer tells its requests or TLS handshakes' };
  const shareOf = ({ resumed, said }: PeakZone): number => resumed / said;
  const zones = zonesAt(rows, hour).filter(({ said }) => said >= HANDSHAKES_MIN);
  const [first, ...others] = zones;
  if (first === undefined) {
    const detail = `fewer than ${HANDSHAKES_MIN} handshakes of any zone say whether they resumed a session, ${at(hour)}`;
    return { value: null, detail };
  }
  const worst = others.reduce((least, one) => (shareOf(one) < shareOf(least) ? one : least), first);
  const all = zones.reduce((sum, { resumed }) => sum + resumed, 0) / zones.reduce((sum, { said }) => sum + said, 0);
  const whole = zones.length > 1 ? `, ${percentText(all)} over all zones` : '';
  return { value: shareOf(worst), detail: `${worst.name}${whole}, ${at(hour)}` };
}

const at = (hour: EpochMs): string => `in the busiest hour, up to ${formatInstant(hour).slice(0, 16)}Z`;

/** The most that config rollouts had used of any budget by the end of an hour of the week. */
function configBudget(rows: readonly HourlyFigures[]): Measured {
  if (!rows.some(({ subject }) => subject.has('configVersion'))) {
    return { value: null, detail: 'no balancer tells its config version' };
  }
  const told = rows.filter(({ budget }) => budget !== undefined);
  if (told.length === 0) return { value: null, detail: 'of no error budget anything is known' };
  const spentBy = ({ budget }: HourlyFigures): number => budget?.byConfig ?? 0;
  const ordered = [...told].sort((a, b) => a.hour - b.hour || (labelsKey(a.subject) < labelsKey(b.subject) ? -1 : 1));
  const worst = ordered.reduce((most, row) => (spentBy(row) > spentBy(most) ? row : most));
  const value = spentBy(worst);
  if (value === 0) return { value, detail: 'no config rollout spent any' };
  const where = [...worst.subject].flatMap(([name, own]) => (name === 'slo' ? [] : [own])).join(' ');
  const of = `${worst.subject.get('slo') ?? ''}${where === '' ? '' : ` (${where})`}`;
  return { value, detail: `of ${of}, by ${formatInstant(worst.hour).slice(0, 16)}Z` };
}

function retryingServices(rows: readonly HourlyFigures[]): Measured {
  const clusters = bySubject(rows, SHAPE.cluster).filter(({ hours }) => sumOf(hours, 'retrying_layers') !== null);
  if (clusters.length === 0) return { value: null, detail: 'no balancer tells retries' };
  const layers = new Map<string, string[]>();
  for (const { subject, hours } of bySubject(rows, SHAPE.layer)) {
    if ((sumOf(hours, 'retries') ?? 0) === 0) continue;
    const cluster = subject.get('cluster') ?? '';
    layers.set(cluster, [...(layers.get(cluster) ?? []), subject.get('layer') ?? '']);
  }
  const several = [...layers].filter(([, names]) => names.length > 1);
  const detail =
    several.length === 0
      ? `of ${clusters.length} that tell retries`
      : named(several.map(([cluster, names]) => `${cluster} (${names.join(', ')})`));
  return { value: several.length, detail };
}

function amplified(incidents: readonly IncidentFacts[], amplifying: readonly string[]): Measured {
  const found = incidents
    .map(({ id, alerts }) => ({ id, by: amplifying.filter((name) => alerts.includes(name)) }))
    .filter(({ by }) => by.length > 0)
    .sort((a, b) => a.id - b.id);
  const detail =
    found.length === 0
      ? `of ${incidents.length} opened in the week`
      : named(found.map(({ id, by }) => `incident ${id} (${by.join(', ')})`));
  return { value: found.length, detail };
}

/**
 * Connections that are open live, on average, for the time for which connections were open over how many were opened
 * (Little's law). A pool is shared where its balancers serve another service too.
 */
function crowdedPools(rows: readonly HourlyFigures[], standard: TrafficStandard): Measured {
  const pools = bySubject(rows, SHAPE.listener).filter(({ hours }) => sumOf(hours, 'connection_seconds') !== null);
  if (pools.length === 0) return { value: null, detail: 'no balancer tells its open connections' };
  if (!pools.some(({ hours }) => sumOf(hours, 'opened') !== null)) {
    return { value: null, detail: 'no balancer tells how many connections are opened, so that their age is not known' };
  }
  const crowded = pools.flatMap((pool) => {
    const most = mostLongLived(pool, standard.longLivedMs);
    return most > standard.longLivedConnections ? [`${nameOf(pool)} (${Math.round(most)})`] : [];
  });
  const limit = `${standard.longLivedConnections} connections that live ${latencyText(standard.longLivedMs)} on average`;
  const detail = crowded.length > 0 ? named(crowded) : `none above ${limit}, of ${pools.length}`;
  return { value: crowded.length, detail };
}

const nameOf = ({ subject }: SubjectHours): string => {
  const listener = subject.get('listener') ?? '';
  return listener === '' ? 'all listeners' : `listener ${listener}`;
};

/** The largest hourly mean of open connections, among the hours in which they are long-lived and share balancers. */
function mostLongLived({ hours }: SubjectHours, longLivedMs: number): number {
  let most = 0;
  for (const row of hours) {
    const seconds = tallyOf(row, 'connection_seconds');
    const isLong = seconds * 1000 > longLivedMs * tallyOf(row, 'opened');
    if (isLong && tallyOf(row, 'services_beside') > 1) most = Math.max(most, seconds / SECONDS_AN_HOUR);
  }
  return most;
}

function named(all: readonly string[]): string {
  const rest = all.length - NAMED_MAX;
  return rest > 0 ? `${all.slice(0, NAMED_MAX).join(', ')} and ${rest} more` : all.join(', ');
}
