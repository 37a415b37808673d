import type { RedRowView } from '../../model/history-views.ts';
import type { BalancerView } from '../../model/views.ts';
import { figuresTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { percentWords } from '../phrases.ts';

/** What an incident names. */
export interface NamedPlaces {
  readonly clusters: ReadonlySet<string>;
  readonly zones: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
  readonly balancers: ReadonlySet<string>;
}

interface Spot {
  readonly kind: 'balancer' | 'host';
  readonly name: string;
  readonly zone: string;
  readonly cluster: string;
  readonly isNamed: boolean;
  readonly isSilent: boolean;
  /** Share of requests that failed; null where nobody tells. */
  readonly failing: number | null;
}

const CELL = 24;
const PER_ROW = 12;
const PER_ZONE_MAX = 120;
const ROWS_MAX = 300;
/** From here on a host is drawn as failing. */
const FAILING_MIN = 0.01;
const NO_ZONE = 'no zone told';

/** Zones with their balancers and hosts, what the incident names marked. Only hosts of the clusters that it names. */
export function fleetMap(balancers: readonly BalancerView[], hosts: readonly RedRowView[], named: NamedPlaces): Html {
  const inScope = hosts.filter(
    ({ name, cluster }) => named.clusters.size === 0 || named.hosts.has(name) || named.clusters.has(cluster ?? ''),
  );
  const spots = [...balancers.map((one) => ofBalancer(one, named)), ...inScope.map((one) => ofHost(one, named))];
  if (spots.length === 0) return html`<p class="state no_data">Nothing of the fleet is heard now.</p>`;
  const zones = new Map<string, Spot[]>();
  for (const spot of spots) zones.set(spot.zone, [...(zones.get(spot.zone) ?? []), spot]);
  const order = [...zones].sort(([a], [b]) => Number(a === NO_ZONE) - Number(b === NO_ZONE) || (a < b ? -1 : 1));
  const elsewhere = hosts.length - inScope.length;
  return html`<p class="quiet">As it is now. ○ balancer, □ host; crossed = named by the incident; dashed = silent; filled = fails 1 in 100 or more of the last 5 min.${elsewhere === 0 ? '' : ` Not drawn: ${elsewhere} hosts of other clusters.`}</p>
<div class="map">${order.map(([zone, members]) => zoneFigure(zone, members, named.zones.has(zone)))}</div>
${table(spots)}`;
}

const ofBalancer = ({ id, zone, stale, clusters }: BalancerView, named: NamedPlaces): Spot => ({
  kind: 'balancer',
  name: id,
  zone: zone ?? NO_ZONE,
  cluster: clusters.length > 3 ? `${clusters.length} clusters` : clusters.join(', ') || '–',
  isNamed: named.balancers.has(id),
  isSilent: stale,
  failing: null,
});

const ofHost = ({ name, zone, cluster, errorRatio }: RedRowView, named: NamedPlaces): Spot => ({
  kind: 'host',
  name,
  zone: zone ?? NO_ZONE,
  cluster: cluster ?? '–',
  isNamed: named.hosts.has(name),
  isSilent: false,
  failing: errorRatio,
});

/** Those to look at first. */
const byWeight = (a: Spot, b: Spot): number =>
  Number(b.isNamed) - Number(a.isNamed) ||
  Number(b.isSilent) - Number(a.isSilent) ||
  (b.failing ?? 0) - (a.failing ?? 0) ||
  (a.name < b.name ? -1 : 1);

function zoneFigure(zone: string, members: readonly Spot[], isNamed: boolean): Html {
  const rowsOf = (kind: Spot['kind']): readonly (readonly Spot[])[] => {
    const found = members
      .filter((one) => one.kind === kind)
      .sort(byWeight)
      .slice(0, PER_ZONE_MAX);
    return Array.from({ length: Math.ceil(found.length / PER_ROW) }, (_, row) =>
      found.slice(row * PER_ROW, (row + 1) * PER_ROW),
    );
  };
  const rows = [...rowsOf('balancer'), ...rowsOf('host')];
  const width = Math.max(...rows.map(({ length }) => length)) * CELL;
  const shapes = rows.flatMap((row, y) => row.map((spot, x) => shape(spot, x * CELL + CELL / 2, y * CELL + CELL / 2)));
  const drawn = rows.flat().length;
  const words = zoneWords(members);
  const more = members.length > drawn ? ` ${members.length - drawn} more are not drawn.` : '';
  return html`<figure class="zone${isNamed ? ' named' : ''}"><figcaption><strong>${zone === NO_ZONE ? 'No zone told' : `Zone ${zone}`}</strong>${isNamed ? ', named' : ''}</figcaption>
<svg width="${width}" height="${rows.length * CELL}" viewBox="0 0 ${width} ${rows.length * CELL}" role="img" aria-label="${words}">${shapes}</svg>
<p>${words}${more}</p></figure>`;
}

function zoneWords(members: readonly Spot[]): string {
  const count = (kind: Spot['kind']): string => {
    const { length } = members.filter((one) => one.kind === kind);
    return length === 0 ? '' : `${length} ${kind}${length === 1 ? '' : 's'}`;
  };
  const named = members.filter(({ isNamed }) => isNamed).map(({ name }) => name);
  const silent = members.filter(({ isSilent }) => isSilent).length;
  const failing = members.filter(isFailing).length;
  return [
    [count('balancer'), count('host')].filter(Boolean).join(', '),
    named.length === 0
      ? ''
      : `named: ${named.slice(0, 3).join(', ')}${named.length > 3 ? ` and ${named.length - 3} more` : ''}`,
    failing === 0 ? '' : `${failing} failing`,
    silent === 0 ? '' : `${silent} silent`,
  ]
    .filter(Boolean)
    .join('; ');
}

const isFailing = ({ failing }: Spot): boolean => failing !== null && failing >= FAILING_MIN;

function shape(spot: Spot, x: number, y: number): Html {
  const look = `spot${isFailing(spot) ? ' failing' : ''}${spot.isSilent ? ' silent' : ''}${spot.isNamed ? ' named' : ''}`;
  const title = html`<title>${spot.kind} ${spot.name}: ${stateWords(spot)}</title>`;
  const body =
    spot.kind === 'balancer'
      ? html`<circle class="${look}" cx="${x}" cy="${y}" r="8">${title}</circle>`
      : html`<rect class="${look}" x="${x - 8}" y="${y - 8}" width="16" height="16">${title}</rect>`;
  const cross = spot.isNamed
    ? html`<path class="cross" d="M${x - 8} ${y - 8}L${x + 8} ${y + 8}M${x + 8} ${y - 8}L${x - 8} ${y + 8}"/>`
    : '';
  return html`${body}${cross}`;
}

function stateWords(spot: Spot): string {
  const failing = spot.failing === null ? '' : `fails ${percentWords(Number(spot.failing.toPrecision(2)))}`;
  return [spot.isNamed ? 'named' : '', spot.isSilent ? 'silent' : '', failing].filter(Boolean).join(', ') || 'heard';
}

function table(spots: readonly Spot[]): Html {
  const shown = [...spots].sort(byWeight).slice(0, ROWS_MAX);
  const rows = shown.map((spot) => [spot.name, spot.kind, spot.zone, spot.cluster, stateWords(spot)]);
  const of = shown.length < spots.length ? ` (${shown.length} of ${spots.length})` : '';
  return figuresTable(`The map as a table${of}`, ['Name', 'What', 'Zone', 'Cluster', 'State'], rows);
}
