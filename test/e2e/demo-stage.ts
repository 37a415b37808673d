import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { pushOverWire } from '../../src/sim/drill/push.ts';
import { createEmitter, type Emitter } from '../../src/sim/emit/emitter.ts';
import { demo } from '../../src/sim/scenarios/demo.ts';
import { createSimulation, type Simulation } from '../../src/sim/simulation.ts';
import { ServiceDirectory } from '../support/live-service.ts';
import { VirtualService } from '../support/virtual-service.ts';

const STEP_MS = 10_000;

/**
 * The service with the shipped rules and the fleet of `npm run demo`, which pushes to it over real sockets: some minutes
 * of a bad day in as many seconds.
 */
export class DemoStage {
  readonly service: VirtualService;
  readonly #directory: ServiceDirectory;
  readonly #simulation: Simulation;
  readonly #emitter: Emitter;
  readonly #epoch: EpochMs;
  #pushedMs = 0;

  private constructor(directory: ServiceDirectory, service: VirtualService, epoch: EpochMs) {
    const { fleet, timeline } = demo(1);
    this.#directory = directory;
    this.service = service;
    this.#epoch = epoch;
    this.#simulation = createSimulation(fleet, timeline);
    this.#emitter = createEmitter(this.#simulation.fleet, 'canonical', epoch);
  }

  /** The service, `forMs` into the day; its clock stands at about now and moves only by `advanceTo`. */
  static async start(forMs: number): Promise<DemoStage> {
    const directory = new ServiceDirectory({ rules: {} });
    mkdirSync(join(directory.path, 'rules'), { recursive: true });
    const epoch = epochMs(Math.floor(Date.now() / STEP_MS) * STEP_MS - forMs);
    const service = await VirtualService.start(directory, epoch);
    const stage = new DemoStage(directory, service, epoch);
    await stage.advanceTo(forMs);
    return stage;
  }

  /** Pushes and ticks up to so long after the start. */
  async advanceTo(ms: number): Promise<void> {
    const target = `http://127.0.0.1:${this.service.app.ports.otlpHttp}`;
    for (let at = this.#pushedMs + STEP_MS; at <= ms; at += STEP_MS) {
      await this.service.moveTo(epochMs(this.#epoch + at));
      this.#simulation.advanceTo(at);
      await pushOverWire(this.#emitter, target, at);
      await this.service.advanceTo(epochMs(this.#epoch + at));
      this.#pushedMs = at;
    }
  }

  async stop(): Promise<void> {
    await this.service.stop();
    this.#directory.remove();
  }
}
