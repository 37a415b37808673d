import { parseArgs } from 'node:util';
import { createPrng, type Prng } from '../../src/base/prng.ts';
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

export function run(args: readonly string[]): number {
  const { values } = parseArgs({ args: [...args], options: { weeks: { type: 'string' }, hosts: { type: 'string' } } });
  const weeks = values.weeks === undefined ? WEEKS_DEFAULT : Number(values.weeks);
  if (!Number.isSafeInteger(weeks) || weeks < 1) {
    process.stderr.write('npm run simulate -- false-alarms [--weeks N] [--hosts N]\n');
    return 2;
  }
  const sizes = values.hosts === undefined ? HOSTS : [Number(values.hosts)];
  const names = [...shippedDetectors().keys()].filter((name) => name !== 'Watchdog').sort();
  process.stdout.write(`Alerts per fleet and month of ${DAYS_PER_MONTH} days, from ${weeks} weeks each.\n`);
  process.stdout.write(`${'detector'.padEnd(24)}${headings(sizes)}\n`);
  const months = (weeks * 7) / DAYS_PER_MONTH;
  const columns: ReadonlyMap<string, number>[] = [];
  for (const hosts of sizes) {
    for (const perMinute of RATES) {
      const counts = new Map<string, number>();
      for (let week = 0; week < weeks; week += 1) {
        for (const [name, count] of countAlerts({ hosts, perMinute, days: 7, prng: seeded(hosts, perMinute, week) })) {
          counts.set(name, (counts.get(name) ?? 0) + count);
        }
      }
      columns.push(new Map([...counts].map(([name, count]) => [name, count / months])));
    }
  }
  let isMissed = false;
  for (const name of names) {
    const cells = columns.map((column) => column.get(name) ?? 0);
    isMissed ||= cells.some((cell) => cell > LIMIT);
    process.stdout.write(`${name.padEnd(24)}${cells.map((cell) => cell.toFixed(2).padStart(10)).join('')}\n`);
  }
  isMissed = runEdge(weeks) || isMissed;
  process.stdout.write(isMissed ? `MISSED: more than ${LIMIT} a month\n` : `at most ${LIMIT} a month everywhere\n`);
  return isMissed ? 1 : 0;
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
const EDGE_SIZES = [3, 12];
/** Requests per balancer and second. */
const EDGE_RATES = [0.01, 1, 1_000];

/** The same for the edge; true where the limit is missed. */
function runEdge(weeks: number): boolean {
  const months = (weeks * 7) / DAYS_PER_MONTH;
  const columns: (readonly string[])[] = [];
  for (const balancers of EDGE_SIZES) {
    for (const perSecond of EDGE_RATES) {
      const days = 7;
      const all = Array.from({ length: weeks }, (_, week) =>
        healthyEdge({ balancers, perSecond, days, seed: balancers * 1009 + perSecond * 100 + week, detectors: EDGE }),
      );
      columns.push(all.flat());
    }
  }
  const heading = EDGE_SIZES.flatMap((size) => EDGE_RATES.map((rate) => `${size}x${rate}/s`.padStart(10))).join('');
  process.stdout.write(`\n${'detector of the edge'.padEnd(26)}${heading}\n`);
  let isMissed = false;
  for (const name of EDGE) {
    const cells = columns.map((fired) => fired.filter((one) => one.startsWith(`${name} `)).length / months);
    isMissed ||= cells.some((cell) => cell > LIMIT);
    process.stdout.write(`${name.padEnd(26)}${cells.map((cell) => cell.toFixed(2).padStart(10)).join('')}\n`);
  }
  return isMissed;
}

export const seeded = (hosts: number, perMinute: number, week: number): Prng =>
  createPrng(hosts * 1_000_003 + perMinute * 7919 + week);

const headings = (sizes: readonly number[]): string =>
  sizes.flatMap((hosts) => RATES.map((rate) => `${hosts}x${rate}`.padStart(10))).join('');
