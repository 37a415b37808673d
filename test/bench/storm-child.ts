import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { epochMs } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import { NOTHING_MUTED } from '../../src/correlate/mute.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { alertOf } from '../support/alerts.ts';
import { shippedRules } from '../support/shipped-rules.ts';

/** One storm of `storm.ts`, printed as a JSON line. */
const ALERTS = 10_000;
const CLUSTERS = 50;
const TICK_MS = 10_000;
const TICKS_OF_STORM = 6;
const T0 = 1_800_000_000_000;
/** Until all is resolved: the storm, a minute of it, its end and the hold. */
const TICKS = 6 + 6 + 6 + 31;

const [storm = 'fleet'] = process.argv.slice(2);

function alertAt(index: number): Alert {
  const cluster = `cluster-${index % CLUSTERS}`;
  const place = { cluster, host: `h${Math.floor(index / CLUSTERS)}` };
  if (storm === 'strangers') return alertOf('DiskFull', { cluster: 'one', host: `h${index}` }, { severity: 'page' });
  return alertOf(Math.floor(index / CLUSTERS) % 2 === 0 ? 'HostEjections' : 'UpstreamErrors', place, {
    severity: 'page',
  });
}

function changesAt(tick: number): AlertChange[] {
  const at = epochMs(T0 + tick * TICK_MS);
  const part = Math.ceil(ALERTS / TICKS_OF_STORM);
  const slice = (from: number): number[] =>
    Array.from({ length: Math.min(part, ALERTS - from * part) }, (_, i) => from * part + i);
  if (tick < TICKS_OF_STORM) {
    return slice(tick).map((index) => ({ kind: 'fired', at, alert: { ...alertAt(index), since: at } }));
  }
  const ending = tick - 2 * TICKS_OF_STORM;
  if (ending < 0 || ending >= TICKS_OF_STORM) return [];
  const since = epochMs(T0 + ending * TICK_MS);
  return slice(ending).map((index) => ({
    kind: 'resolved',
    at,
    alert: { ...alertAt(index), since },
    reason: 'recovered',
  }));
}

const folder = mkdtempSync(join(tmpdir(), 'slowburn-bench-'));
const store = openSqliteStore(join(folder, 'incidents.db'));
const correlator = createCorrelator(shippedRules().correlation);
const known = storm === 'clusters' ? 10_000 : CLUSTERS;
const fleet = { clusters: () => Array.from({ length: known }, (_, i) => `cluster-${i}`) };
const took: number[] = [];
const opened = new Set<number>();
let pages = 0;
let heldMb = 0;
for (let tick = 0; tick < TICKS; tick += 1) {
  const changes = changesAt(tick);
  const now = epochMs(T0 + tick * TICK_MS);
  const began = performance.now();
  const result = correlator.correlate(changes, now, { fleet, mutesOf: NOTHING_MUTED });
  store.commit({
    at: now,
    alertStates: [],
    alertStatesRemoved: [],
    incidents: result.incidents,
    changes: result.changes,
    outbox: [],
  });
  took.push(performance.now() - began);
  for (const { id } of result.incidents) opened.add(id);
  pages += result.notifications.filter(({ severity, reason }) => severity === 'page' && reason !== 'resolved').length;
  if (tick === 2 * TICKS_OF_STORM - 1) {
    globalThis.gc?.();
    heldMb = process.memoryUsage().heapUsed / 2 ** 20;
  }
}
store.close();
rmSync(folder, { recursive: true });
const sorted = [...took].sort((a, b) => a - b);
process.stdout.write(
  `${JSON.stringify({
    bench: 'storm',
    storm,
    alerts: ALERTS,
    knownClusters: known,
    incidents: opened.size,
    pages,
    medianTickMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    slowestTickMs: Math.round(sorted.at(-1) ?? 0),
    heapMb: Math.round(heldMb),
  })}\n`,
);
