import { epochMs } from '../../src/base/units.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { benchCore } from './ingest-core.ts';
import { benchMemory } from './ingest-memory.ts';
import { createBareIngest, KINDS, type Kind, PUSH_MS, requestOf, T0 } from './ingest-requests.ts';
import { benchServer } from './ingest-server.ts';
import { print } from './rounds.ts';

/** How long a snapshot of many series takes to write and to take up. */
function benchRestart(kind: Kind, series: number): void {
  const ingest = createBareIngest();
  const staging = new Staging();
  const points = 10_000;
  for (let from = 0; from < series; from += points) {
    decodeMetrics(requestOf({ kind, points, push: 1, balancer: `edge-${from}` }), staging);
    ingest.apply(staging, { receivedAt: epochMs(T0 + PUSH_MS), peer: '10.0.0.1', identityHeader: null });
  }
  const savedFrom = performance.now();
  const snapshot = structuredClone(ingest.snapshot());
  const restoredFrom = performance.now();
  createBareIngest().restore(snapshot);
  const snapshotMs = Math.round(restoredFrom - savedFrom);
  const restoreMs = Math.round(performance.now() - restoredFrom);
  print({ bench: 'restart', kind, series: ingest.seriesCount(), snapshotMs, restoreMs });
}

const PARTS: Readonly<Record<string, () => void | Promise<void>>> = {
  core: benchCore,
  server: benchServer,
  memory: benchMemory,
  restart: () => KINDS.forEach((kind) => void benchRestart(kind, 500_000)),
};

/** `npm run bench -- ingest [PART...]`, all parts by default: core, server, memory, restart. */
export async function run(args: readonly string[] = []): Promise<void> {
  for (const [name, part] of Object.entries(PARTS)) if (args.length === 0 || args.includes(name)) await part();
}
