import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { runInProcesses } from '../../src/cli/process-pool.ts';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import { healthyEdge } from '../support/healthy-edge.ts';
import { HealthyFleet, type HealthyOptions } from '../support/healthy-fleet.ts';
import { shippedDetectors } from '../support/shipped-detectors.ts';

/**
 * False alarms of the detectors with shipped thresholds: weeks of a fleet that is well (Poisson traffic over the day,
 * slow requests now and then, hosts of unequal weight, a rolling deploy each day, a check that fails once in a while).
 * One evaluation a minute. Counted is each alert that begins.
 */
const HOSTS = [5, 50, 200];
/** Requests per host and minute, the window of the detectors of hosts. */
const RATES = [5, 50, 1_000];
const WEEKS_DEFAULT = 8;
const DAYS_PER_MONTH = 30;
/** Alerts that a detector may raise per fleet and month. */
const LIMIT = 1;
const PROGRESS_MS = 60_000;
const EDGE_SIZES = [3, 12];
/** Requests per balancer and second. */
const EDGE_RATES = [0.01, 1, 1_000];

/** Alerts that begin, by detector, in so many days. */
export function countAlerts(options: HealthyOptions): ReadonlyMap<string, number> {
  const fleet = new HealthyFleet(options);
  const engine = createDetectionEngine(shippedDetectors());
  const counts = new Map<string, number>();
  for (const now of fleet.minutes()) {
    for (const { kind, alert } of engine.evaluate(fleet, now).changes) {
      if (kind === 'fired') counts.set(alert.name, (counts.get(alert.name) ?? 0) + 1);
    }
  }
  return counts;
}

/** A week of one fleet, by its place in the tables. */
export type WeekTask =
  | { readonly kind: 'hosts'; readonly hosts: number; readonly perMinute: number; readonly week: number }
  | { readonly kind: 'edge'; readonly balancers: number; readonly perSecond: number; readonly week: number };

/** Names of the alerts that begin in that week, as often as they do. */
export function alertsOfWeek(task: WeekTask): readonly string[] {
  const days = 7;
  if (task.kind === 'hosts') {
    const { hosts, perMinute, week } = task;
    const counts = countAlerts({ hosts, perMinute, days, prng: seeded(hosts, perMinute, week) });
    return [...counts].flatMap(([name, count]) => Array.from({ length: count }, () => name));
  }
  const { balancers, perSecond, week } = task;
  const seed = balancers * 1009 + perSecond * 100 + week;
  return healthyEdge({ balancers, perSecond, days, seed, detectors: EDGE }).map((line) => line.split(' ')[0] ?? line);
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { weeks: { type: 'string' }, hosts: { type: 'string' } } });
  const weeks = values.weeks === undefined ? WEEKS_DEFAULT : Number(values.weeks);
  if (!Number.isSafeInteger(weeks) || weeks < 1) {
    process.stderr.write('npm run simulate -- false-alarms [--weeks N] [--hosts N]\n');
    return 2;
  }
  const sizes = values.hosts === undefined ? HOSTS : [Number(values.hosts)];
  const ofHosts = sizes.flatMap((hosts) => RATES.map((perMinute) => ({ kind: 'hosts', hosts, perMinute }) as const));
  const ofEdge = EDGE_SIZES.flatMap((balancers) =>
    EDGE_RATES.map((perSecond) => ({ kind: 'edge', balancers, perSecond }) as const),
  );
  const columns = await columnsOf([...ofHosts, ...ofEdge], weeks);
  const names = [...shippedDetectors().keys()].filter((name) => name !== 'Watchdog').sort();
  process.stdout.write(`Alerts per fleet and month of ${DAYS_PER_MONTH} days, from ${weeks} weeks each.\n`);
  const missed = [
    printTable(
      'detector',
      names,
      ofHosts.map(({ hosts, perMinute }) => `${hosts}x${perMinute}`),
      columns,
    ),
    printTable(
      'detector of the edge',
      EDGE,
      ofEdge.map(({ balancers, perSecond }) => `${balancers}x${perSecond}/s`),
      columns.slice(ofHosts.length),
    ),
  ].includes(true);
  process.stdout.write(missed ? `MISSED: more than ${LIMIT} a month\n` : `at most ${LIMIT} a month everywhere\n`);
  return missed ? 1 : 0;
}

/** A column of the tables: one size and traffic, alerts a month by detector. */
type Column = ReadonlyMap<string, number>;
type Fleet = WeekTask extends infer Task ? (Task extends WeekTask ? Omit<Task, 'week'> : never) : never;

/** Every week of every fleet, one process a core; the largest fleets first. */
async function columnsOf(fleets: readonly Fleet[], weeks: number): Promise<readonly Column[]> {
  const tasks = fleets.flatMap((fleet, column) =>
    Array.from({ length: weeks }, (_, week) => ({ ...fleet, week, column }) as WeekTask & { readonly column: number }),
  );
  const work = (task: WeekTask): number => (task.kind === 'hosts' ? task.hosts : task.balancers);
  const ordered = [...tasks].sort((a, b) => work(b) - work(a));
  let saidAt = performance.now();
  const answers = await runInProcesses<WeekTask, readonly string[]>({
    entry: new URL('./false-alarms-worker.ts', import.meta.url),
    args: [],
    tasks: ordered,
    jobs: availableParallelism(),
    nameOf: (task) => JSON.stringify(task),
    onDone: (_task, _fired, done) => {
      if (performance.now() - saidAt < PROGRESS_MS) return;
      saidAt = performance.now();
      process.stderr.write(`${done} of ${tasks.length} weeks\n`);
    },
  });
  const months = (weeks * 7) / DAYS_PER_MONTH;
  const columns = fleets.map(() => new Map<string, number>());
  for (const [place, { column }] of ordered.entries()) {
    const counts = columns[column] as Map<string, number>;
    for (const name of answers[place] ?? []) counts.set(name, (counts.get(name) ?? 0) + 1 / months);
  }
  return columns;
}

/** Whether a figure in it is above the limit. */
function printTable(
  heading: string,
  names: readonly string[],
  titles: readonly string[],
  columns: readonly Column[],
): boolean {
  const row = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(26)}${cells.map((cell) => cell.padStart(10)).join('')}\n`;
  process.stdout.write(`\n${row(heading, titles)}`);
  let isMissed = false;
  for (const name of names) {
    const cells = titles.map((_, place) => columns[place]?.get(name) ?? 0);
    isMissed ||= cells.some((cell) => cell > LIMIT);
    process.stdout.write(
      row(
        name,
        cells.map((cell) => cell.toFixed(2)),
      ),
    );
  }
  return isMissed;
}

/** Detectors of the edge, which look at single balancers instead of hosts. */
export const EDGE = [
  'AcceptQueueSaturation',
  'BalancerSaturation',
  'BalancerSkew',
  'CertificateRenewalStalled',
  'ConfigDrift',
  'ConfigPushRegression',
  'ConfigPushUnstaged',
  'HandshakeStorm',
  'L4Rehash',
  'NoisyNeighbour',
  'StageTailShift',
  'StreamSaturation',
];
export const seeded = (hosts: number, perMinute: number, week: number): Prng =>
  createPrng(hosts * 1_000_003 + perMinute * 7919 + week);
