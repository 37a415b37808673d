import { ManualClock } from '../base/clock.ts';
import { epochMs } from '../base/units.ts';
import type { Rules } from '../config/config.ts';
import type { Receiver } from '../model/receiver.ts';
import { createNotifiers } from '../notify/registry.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import type { IncidentStore } from '../store/store.ts';
import { createEngine, type Engine } from './engine.ts';

const BASE_URL = 'http://slowburn.local';

/** Where receivers come from when the rules name none. */
const DEFAULT_RECEIVER: Receiver = {
  name: 'default',
  type: 'webhook',
  url: 'http://127.0.0.1:9/',
  secret: null,
  sendResolved: true,
};

/** The engine of serve, for replays and drills, with a new store in memory unless given: nothing is ever sent. */
export function createUnsentEngine(rules: Rules, store: IncidentStore = createMemoryStore()): Engine {
  const receivers = rules.receivers.length > 0 ? rules.receivers : [DEFAULT_RECEIVER];
  const engine = createEngine({
    rules,
    receivers,
    notifiers: createNotifiers(receivers, new ManualClock(epochMs(0))),
    store,
    baseUrl: () => BASE_URL,
    runbook: () => null,
  });
  engine.evaluator.restore(epochMs(0), new Set());
  return engine;
}
