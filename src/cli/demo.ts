import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, createApp } from '../app/app.ts';
import { systemClock } from '../app/system-clock.ts';
import { TICK_MS } from '../app/ticker.ts';
import { epochMs } from '../base/units.ts';
import type { Rules, ServiceConfig } from '../config/config.ts';
import { loadRules, loadServiceConfig } from '../config/load.ts';
import { pushOverWire, wireMessage } from '../sim/drill/push.ts';
import { createEmitter } from '../sim/emit/emitter.ts';
import { DEMO_LONGEST_MS, demo } from '../sim/scenarios/demo.ts';
import { createSimulation } from '../sim/simulation.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

const SEED = 1;

export interface DemoArguments {
  /** Where the service listens; null = the usual ports. */
  readonly configPath: string | null;
}

/**
 * `slowburn demo`: the service and a simulated fleet that pushes to it over real sockets, with a failure every few
 * minutes. Data lie in a temporary folder that goes when it ends. `stopped` settles when it is to end.
 */
export async function runDemo(
  { configPath }: DemoArguments,
  io: CommandIo,
  stopped: Promise<unknown>,
): Promise<ExitCode> {
  const dataDir = mkdtempSync(join(tmpdir(), 'slowburn-demo-'));
  let app: App | null = null;
  try {
    const loaded = serviceOf(configPath, dataDir, io);
    if (loaded === null) {
      io.stderr('slowburn demo: the configuration has errors; `slowburn check` prints them\n');
      return EXIT.failed;
    }
    const { config, rules } = loaded;
    const logger = createLogger({ level: 'error' });
    app = await createApp({ config, rules, clock: systemClock, logger, version: io.version });
    const { http, otlpHttp } = app.ports;
    io.stderr(`A fleet pushes to 127.0.0.1:${otlpHttp}; look at http://127.0.0.1:${http}/ and end it with Ctrl-C.\n`);
    await fleetLife(`http://127.0.0.1:${otlpHttp}`, io, stopped);
    return EXIT.fine;
  } catch (error) {
    io.stderr(`slowburn demo: ${wireMessage(error)}\n`);
    return EXIT.failed;
  } finally {
    await app?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function serviceOf(
  configPath: string | null,
  dataDir: string,
  io: CommandIo,
): { readonly config: ServiceConfig; readonly rules: Rules } | null {
  const { env, cwd, packageDir } = io;
  const service = loadServiceConfig({ configPath, dataDir, env, cwd, packageDir });
  if (!service.ok) return null;
  const { rulesDir, runbooksDir, receivers } = service.value;
  const { rules } = loadRules({ rulesDir, shippedDir: join(packageDir, 'rules'), runbooksDir, receivers, env });
  return rules === null ? null : { config: service.value, rules };
}

/** Pushes every 10 s, as the fleet's time passes with the clock, until it is to stop. */
async function fleetLife(target: string, io: CommandIo, stopped: Promise<unknown>): Promise<void> {
  const { fleet, timeline, announced } = demo(SEED);
  const simulation = createSimulation(fleet, timeline);
  const epoch = epochMs(systemClock.now());
  const emitter = createEmitter(simulation.fleet, 'canonical', epoch);
  const over = stopped.then(() => 'over' as const);
  let said = 0;
  for (let now = TICK_MS; now <= DEMO_LONGEST_MS; now += TICK_MS) {
    const next = sleep(Math.max(0, epoch + now - systemClock.now()), 'due' as const, { ref: true });
    if ((await Promise.race([next, over])) === 'over') return;
    simulation.advanceTo(now);
    await pushOverWire(emitter, target, now);
    for (; said < announced.length && (announced[said]?.atMs ?? 0) <= now; said += 1) {
      io.stderr(`${new Date(epoch + now).toISOString().slice(11, 19)}  ${announced[said]?.text}\n`);
    }
  }
}
