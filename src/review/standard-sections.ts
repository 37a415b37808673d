import type { Cell, DocumentSection, DocumentTable } from '../model/document.ts';
import { latencyText, percentText } from '../model/phrases.ts';
import type { WeeklyReview } from '../model/review.ts';
import { COSTS, type Cost, type CostShareView, type ScoreView } from '../model/scorecard.ts';

/** Of each table the first; the JSON has all. */
const ROWS_MAX = 15;

const STATES: Readonly<Record<ScoreView['state'], string>> = { met: 'met', missed: 'MISSED', not_known: 'not known' };
const TARGETS = { below: 'below', above: 'above', at_most: 'at most' } as const;

function valueText(unit: ScoreView['unit'], value: number | null): string {
  if (value === null) return '–';
  if (unit === '1') return percentText(value);
  return unit === 's' ? latencyText(Number((value * 1000).toPrecision(3))) : String(value);
}

/** The week against the traffic standard, and the headroom without resumption. */
export function standardSection({ standard: { scores, headroom } }: WeeklyReview): DocumentSection {
  const rows = scores.map((one) => [
    one.title,
    STATES[one.state],
    valueText(one.unit, one.value),
    `${TARGETS[one.target.is]} ${valueText(one.unit, one.target.value)}`,
    one.detail,
  ]);
  const left =
    headroom.headroom === null ? 'not known' : headroom.headroom > 0 ? percentText(headroom.headroom) : 'none';
  const room = `Headroom at peak if no handshake resumed a session: ${left} (${headroom.detail}).`;
  return section(
    'standard',
    'Scorecard',
    [room],
    [{ title: 'Against the traffic standard', columns: ['Standard', 'State', 'Value', 'Target', 'Where'], rows }],
  );
}

const COST_TITLES: Readonly<Record<Cost, string>> = {
  full_handshakes: 'Full handshakes',
  requests: 'Requests',
  bytes_out: 'Bytes out',
  connection_hours: 'Connection-hours',
};

/** Each service's share of what balancers do. */
export function costSection({ week, cost: { services, totals } }: WeeklyReview): DocumentSection {
  const share = (of: CostShareView | null): string => (of === null ? '–' : percentText(of.share));
  const rows = services.map(({ service, costs }): Cell[] => [service, ...COSTS.map((cost) => share(costs[cost]))]);
  const missing = COSTS.filter((cost) => totals[cost].total === null).map((cost) => totals[cost].detail);
  const link: Cell = { kind: 'link', text: 'Amounts', href: `/cost/${week}` };
  const told =
    rows.length === 0
      ? []
      : [shortened('Share of each service', ['Service', ...COSTS.map((cost) => COST_TITLES[cost])], rows)];
  const more = [{ title: 'More', columns: ['Page'], rows: [[link]] }];
  return section(
    'cost',
    'Cost of services',
    [missing.length === 0 ? null : `Not known: ${missing.join('; ')}.`],
    [...told, ...more],
  );
}

/** Requests of clients by the config version that answered them. */
export function versionSection({ cost: { versions } }: WeeklyReview): DocumentSection {
  const rows = versions.map(({ version, kind, requests, share, errors }) => [
    kind === '' ? version : `${version} (${kind})`,
    String(requests),
    percentText(share),
    String(errors),
  ]);
  const none = rows.length === 0 ? 'No balancer tells its config version.' : null;
  const columns = ['Version', 'Requests', 'Share', 'Answered 5xx'];
  return section('versions', 'Requests by config version', [none], [shortened('By version', columns, rows)]);
}

/** Who carried more than others: busiest hosts, and what zones used of their capacity. */
export function spreadSection({ spread: { hosts, zones } }: WeeklyReview): DocumentSection {
  const hostRows = hosts.map(({ cluster, maxOverMean, host, hour, mean }): Cell[] => [
    cluster,
    `${maxOverMean.toFixed(2)}x`,
    host,
    { kind: 'time', at: hour },
    `${mean.toFixed(2)}x`,
  ]);
  const zoneRows = zones.map(({ cluster, zone, utilization, most, hour }): Cell[] => [
    `${cluster} ${zone}`,
    percentText(utilization),
    percentText(most),
    { kind: 'time', at: hour },
  ]);
  const none = zones.length === 0 ? 'No balancer tells the utilization of hosts.' : null;
  return section(
    'spread',
    'Busiest hosts and utilization of zones',
    [none],
    [
      shortened('Busiest host over the mean', ['Cluster', 'Most', 'Host', 'Hour until', 'Mean of hours'], hostRows),
      shortened('Utilization by zone', ['Cluster, zone', 'Mean', 'Most', 'Hour until'], zoneRows),
    ],
  );
}

function shortened(title: string, columns: readonly string[], rows: DocumentTable['rows']): DocumentTable {
  const more = rows.length - ROWS_MAX;
  return {
    title: more > 0 ? `${title} (the first ${ROWS_MAX} of ${rows.length})` : title,
    columns,
    rows: rows.slice(0, ROWS_MAX),
  };
}

const section = (
  id: string,
  title: string,
  paragraphs: readonly (string | null)[],
  tables: readonly DocumentTable[],
): DocumentSection => ({
  id,
  title,
  paragraphs: paragraphs.filter((one) => one !== null),
  chart: null,
  tables: tables.filter(({ rows }) => rows.length > 0),
});
