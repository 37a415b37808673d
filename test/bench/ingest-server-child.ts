import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { createApp } from '../../src/app/app.ts';
import { createBodyDecoder } from '../../src/app/decode-body.ts';
import { createIngest } from '../../src/app/ingest.ts';
import { systemClock } from '../../src/app/system-clock.ts';
import { createTurns } from '../../src/app/turns.ts';
import { loadRules, loadServiceConfig } from '../../src/config/load.ts';
import { createHttpReceiver } from '../../src/otlp/http-receiver.ts';
import { createBinder } from '../../src/series/bind.ts';
import { createSeriesIngest } from '../../src/series/ingest.ts';
import type { IngestLog } from '../../src/store/ingest-log.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

/**
 * `DIRECTORY disk|memory`: the whole service as `serve` wires it, or its receiver and ingest over a log that keeps
 * nothing. Tells its port over IPC, and on each message what it has used since the last one.
 */
const [directory = '', log = ''] = process.argv.slice(2);
const PACKAGE = join(import.meta.dirname, '..', '..');
const RESOLUTION_MS = 1;

mkdirSync(directory, { recursive: true });
const configPath = join(directory, 'slowburn.yaml');
writeFileSync(
  configPath,
  'listen: { http: 127.0.0.1:0, otlpHttp: 127.0.0.1:0, otlpGrpc: 127.0.0.1:0 }\ndata: ./data\n',
);
const loaded = loadServiceConfig({ configPath, env: {}, cwd: directory, packageDir: PACKAGE });
if (!loaded.ok) throw new Error('the configuration of the bench is wrong');
const config = loaded.value;
const { rules } = loadRules({
  rulesDir: config.rulesDir,
  shippedDir: join(PACKAGE, 'rules'),
  runbooksDir: config.runbooksDir,
  receivers: config.receivers,
  env: {},
});
if (rules === null) throw new Error('the shipped rules are wrong');

async function startWhole(): Promise<number> {
  if (rules === null) throw new Error('no rules');
  const logger = createLogger({ level: 'silent' });
  const app = await createApp({ config, rules, clock: systemClock, logger, version: 'bench' });
  return app.ports.otlpHttp;
}

async function startWithoutLog(): Promise<number> {
  const slos = rules?.slos ?? [];
  const aggregate = createAggregate();
  aggregate.replaceSlos(slos);
  const series = createSeriesIngest({ binder: createBinder({ slos, aggregate }), balancers: aggregate });
  const end = { segment: 0, offset: 0 };
  const none: IngestLog = {
    append: () => Promise.resolve(end),
    read: () => [],
    trim: () => undefined,
    end: () => end,
    writable: () => true,
    close: () => Promise.resolve(),
  };
  const turns = createTurns();
  const bodies = createBodyDecoder(turns);
  const receiver = createHttpReceiver({
    consumer: createIngest({ series, log: none, clock: systemClock, turns, bodies }),
    metrics: { request: () => undefined },
    tokens: [],
    identityHeader: 'x-lb-instance',
  });
  return (await receiver.listen({ host: '127.0.0.1', port: 0 })).port;
}

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let used = process.cpuUsage();
process.on('message', () => {
  const since = process.cpuUsage(used);
  used = process.cpuUsage();
  process.send?.({ cpuSeconds: (since.user + since.system) / 1e6, longestBlockMs: delay.max / 1e6 - RESOLUTION_MS });
  delay.reset();
});
process.on('disconnect', () => process.exit(0));
const port = log === 'disk' ? await startWhole() : await startWithoutLog();
delay.enable();
process.send?.({ port });
