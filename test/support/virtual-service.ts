import { join } from 'node:path';
import { type App, createApp } from '../../src/app/app.ts';
import { TICK_MS, tickAtOrAfter } from '../../src/app/ticker.ts';
import { assert } from '../../src/base/assert.ts';
import { ManualClock } from '../../src/base/clock.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { Rules, ServiceConfig } from '../../src/config/config.ts';
import { loadRules, loadServiceConfig } from '../../src/config/load.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import type { ServiceDirectory } from './live-service.ts';

const PACKAGE = join(import.meta.dirname, '..', '..');

/**
 * The whole service with real sockets and a real store in this process, on a clock that the test moves: hours pass in
 * seconds, and each tick runs at its exact time.
 */
export class VirtualService {
  readonly app: App;
  /** Awaited after each tick, for a test that needs sends to have arrived before time goes on. */
  afterTick: () => Promise<void> = () => new Promise((done) => setImmediate(done));
  readonly #directory: ServiceDirectory;
  readonly #clock: ManualClock;
  readonly #tick: (now: EpochMs) => Promise<void>;
  #nextTick: EpochMs;

  private constructor(
    app: App,
    directory: ServiceDirectory,
    clock: ManualClock,
    tick: (now: EpochMs) => Promise<void>,
  ) {
    this.app = app;
    this.#directory = directory;
    this.#clock = clock;
    this.#tick = tick;
    this.#nextTick = tickAtOrAfter(clock.now());
  }

  static async start(directory: ServiceDirectory, at: EpochMs): Promise<VirtualService> {
    const { config, rules } = read(directory);
    const clock = new ManualClock(at);
    let run: ((now: EpochMs) => Promise<void>) | undefined;
    const app = await createApp({
      config,
      rules,
      clock,
      logger: createLogger({ level: 'silent' }),
      version: 'test',
      createTicker(_clock, tick) {
        run = tick;
        return { start: () => undefined, stop: () => undefined };
      },
    });
    assert(run !== undefined, 'the app asked for no ticker');
    return new VirtualService(app, directory, clock, run);
  }

  get now(): EpochMs {
    return this.#clock.now();
  }

  /** Moves the clock and runs the ticks up to and including `at`. Sends go their way over real sockets meanwhile. */
  async advanceTo(at: EpochMs): Promise<void> {
    await this.#runTicks(at);
    this.#clock.advanceTo(at);
  }

  /** Moves the clock and runs the ticks before `at`; one at that very time is still to come. */
  async moveTo(at: EpochMs): Promise<void> {
    await this.#runTicks(epochMs(at - 1));
    this.#clock.advanceTo(at);
  }

  async #runTicks(last: EpochMs): Promise<void> {
    while (this.#nextTick <= last) {
      this.#clock.advanceTo(this.#nextTick);
      await this.#tick(this.#nextTick);
      this.#nextTick = epochMs(this.#nextTick + TICK_MS);
      await this.afterTick();
    }
  }

  /** What SIGHUP does: the rules are read again. */
  reload(): void {
    this.app.replaceRules(read(this.#directory).rules);
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.app.ports.http}${path}`;
  }

  async text(path: string): Promise<string> {
    const answer = await fetch(this.url(path));
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return answer.text();
  }

  async json<T>(path: string): Promise<T> {
    return JSON.parse(await this.text(path)) as T;
  }

  async push(body: string): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.app.ports.otlpHttp}/v1/metrics`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (answer.status !== 200) throw new Error(`the push was answered ${answer.status}: ${await answer.text()}`);
  }

  stop(): Promise<void> {
    return this.app.stop();
  }
}

function read(directory: ServiceDirectory): { readonly config: ServiceConfig; readonly rules: Rules } {
  const configPath = join(directory.path, 'slowburn.yaml');
  const loaded = loadServiceConfig({ configPath, env: {}, cwd: directory.path, packageDir: PACKAGE });
  assert(loaded.ok, 'the configuration of the test is wrong');
  const config = loaded.value;
  const { rules, problems } = loadRules({
    rulesDir: config.rulesDir,
    shippedDir: join(PACKAGE, 'rules'),
    runbooksDir: config.runbooksDir,
    receivers: config.receivers,
    env: {},
  });
  assert(rules !== null, JSON.stringify(problems));
  return { config, rules };
}
