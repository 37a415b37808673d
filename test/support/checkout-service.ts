import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { type Hook, Pusher, ServiceDirectory, startHook } from './live-service.ts';
import { availabilitySlo } from './replay-file.ts';
import { VirtualService } from './virtual-service.ts';

const STEP_MS = 10_000;
/** On a step of five minutes. */
export const START = epochMs(1_800_000_000_000);

/**
 * The whole service over one directory, with one SLO, one balancer and one receiver, on a clock in our hands; it can be
 * stopped and started again.
 */
export class CheckoutService {
  service: VirtualService;
  readonly directory: ServiceDirectory;
  readonly hook: Hook;
  readonly #balancer = new Pusher({ startMs: START, instance: 'edge-1' });

  constructor(service: VirtualService, directory: ServiceDirectory, hook: Hook) {
    this.service = service;
    this.directory = directory;
    this.hook = hook;
  }

  /** So much time with `errors` of a hundred requests failing in each step; returns its end. */
  async run(forMs: number, errors: number): Promise<EpochMs> {
    const end = epochMs(this.service.now + forMs);
    while (this.service.now < end) {
      const at = epochMs(this.service.now + STEP_MS);
      await this.service.advanceTo(epochMs(at - 1));
      await this.service.push(this.#balancer.body({ '2xx': 100 - errors, '5xx': errors }, 'checkout', at));
      await this.service.advanceTo(at);
    }
    return end;
  }

  async restart(): Promise<void> {
    const { now } = this.service;
    await this.service.stop();
    this.service = await VirtualService.start(this.directory, now);
  }

  /** Why each message was sent. */
  reasons(): readonly string[] {
    return this.hook.bodies.map(({ reason }) => String(reason));
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.hook.close();
    this.directory.remove();
  }
}

type Made<T> = new (service: VirtualService, directory: ServiceDirectory, hook: Hook) => T;

/** Starts one, of a class that may know more. */
export async function openCheckout<T extends CheckoutService>(Kind: Made<T>): Promise<T> {
  const hook = await startHook();
  const directory = new ServiceDirectory({
    rules: { 'slos/checkout.yaml': availabilitySlo('workbook'), 'routes.yaml': 'routes: []\n' },
    config: `receivers: [{ name: oncall, type: webhook, url: "${hook.url}" }]\n`,
  });
  return new Kind(await VirtualService.start(directory, START), directory, hook);
}
