import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { AlertView, Page, SloView } from '../../src/model/views.ts';
import { eventually, type Hook, Pusher, ServiceDirectory, startHook } from '../support/live-service.ts';
import { VirtualService } from '../support/virtual-service.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = epochMs(1_800_000_000_000);
const PUSH_MS = 10 * SECOND;
const HEALTHY_MS = 40 * MINUTE;
const FAILING_MS = 10 * MINUTE;
const PAGES = ['/', '/slos', '/fleet', '/incidents/1', '/api/v1/slos', '/api/v1/incidents'];

/** Two balancers under the shipped rules, a receiver, and a clock in our hands. */
class Scene {
  readonly service: VirtualService;
  readonly hook: Hook;
  readonly #directory: ServiceDirectory;
  readonly #balancers = ['edge-1', 'edge-2'].map(
    (instance) => new Pusher({ startMs: START, instance, side: 'upstream' }),
  );

  private constructor(service: VirtualService, hook: Hook, directory: ServiceDirectory) {
    this.service = service;
    this.hook = hook;
    this.#directory = directory;
  }

  static async open(): Promise<Scene> {
    const hook = await startHook();
    const receiver = `{ name: oncall, type: webhook, url: "${hook.url}" }`;
    const directory = new ServiceDirectory({
      rules: { 'routes.yaml': 'routes: []\n' },
      config: `receivers: [${receiver}]\n`,
    });
    return new Scene(await VirtualService.start(directory, START), hook, directory);
  }

  /** Every balancer pushes every 10 s for so long; returns the time of the last point. */
  async run(forMs: number, errors: number): Promise<EpochMs> {
    const end = epochMs(this.service.now + forMs);
    while (this.service.now < end) {
      const at = epochMs(this.service.now + PUSH_MS);
      await this.service.advanceTo(epochMs(at - 1));
      for (const balancer of this.#balancers) {
        await this.service.push(balancer.body({ '2xx': 100 - errors, '5xx': errors }, 'checkout', at));
      }
      await this.service.advanceTo(at);
    }
    return end;
  }

  reasons(): readonly string[] {
    return this.hook.bodies.map(({ reason, lead }) => `${String(reason)} ${(lead as { name: string }).name}`);
  }

  /** The first message about the loss of telemetry, once it has arrived over its socket. */
  lossMessage(): Promise<Readonly<Record<string, unknown>>> {
    const isLoss = ({ lead }: Readonly<Record<string, unknown>>): boolean =>
      (lead as { name: string }).name === 'TelemetryLost';
    return eventually('a message about lost telemetry', 5000, async () =>
      this.hook.bodies.find((body) => isLoss(body) && body['severity'] === 'page'),
    );
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.hook.close();
    this.#directory.remove();
  }
}

describe('every balancer stops while a budget burns', () => {
  let scene: Scene;
  let lastPoint: EpochMs;
  before(async () => {
    scene = await Scene.open();
    await scene.run(HEALTHY_MS, 0);
    lastPoint = await scene.run(FAILING_MS, 20);
    assert.deepEqual(scene.reasons(), ['opened UpstreamErrors', 'escalated UpstreamErrors']);
  });
  after(() => scene.close());

  test('telemetry that is lost pages within 3 min 30 s of the last point', async () => {
    await scene.service.advanceTo(epochMs(lastPoint + 210 * SECOND));
    const message = await scene.lossMessage();
    assert.ok(Date.parse(String(message['at'])) <= lastPoint + 210 * SECOND, String(message['at']));
    assert.match(String(message['text']), /^PAGE /);
  });

  test('for the next 12 hours the burn goes on firing, and nobody is told that it is over', async () => {
    await scene.service.advanceTo(epochMs(lastPoint + 12 * HOUR));
    const { items } = await scene.service.json<Page<AlertView>>('/api/v1/alerts');
    const firing = items.filter(({ state }) => state === 'firing').map(({ name, severity }) => `${severity} ${name}`);
    assert.ok(firing.includes('page ErrorBudgetBurn'), firing.join(', '));
    assert.ok(firing.includes('page TelemetryLost'), firing.join(', '));
    assert.deepEqual(
      scene.reasons().filter((reason) => reason.startsWith('resolved') || reason.startsWith('deescalated')),
      [],
    );
  });

  test('the API and every page say in words that nothing is known, and nothing stands at 100 %', async () => {
    const { items } = await scene.service.json<Page<SloView>>('/api/v1/slos');
    const groups = items.flatMap((slo) => slo.groups);
    assert.ok(groups.length > 0);
    for (const group of groups) assert.equal(group.state, 'no_data');
    for (const path of PAGES) assert.doesNotMatch(await scene.service.text(path), /\b100(\.0+)? ?%/, path);
    assert.match(await scene.service.text('/slos'), /no data: none of its balancers reports/);
    assert.match(await scene.service.text('/fleet'), /stale: it has stopped reporting/);
    assert.match(await scene.service.text('/'), /Balancers have stopped reporting/);
    for (const path of ['/', '/incidents/1']) {
      assert.match(await scene.service.text(path), /No data comes in any more: these are the last figures known/, path);
    }
    assert.match(await scene.service.text('/incidents/2'), /No balancer of upstream-availability has sent metrics/);
  });
});

describe('every balancer of a healthy fleet stops, and comes back', () => {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open();
  });
  after(() => scene.close());

  test('it pages once within 3 min 30 s, stands nowhere at 100 %, and is closed once', async () => {
    const lastPoint = await scene.run(HEALTHY_MS, 0);
    assert.deepEqual(scene.reasons(), []);
    await scene.service.advanceTo(epochMs(lastPoint + 210 * SECOND));
    const message = await scene.lossMessage();
    assert.ok(Date.parse(String(message['at'])) <= lastPoint + 210 * SECOND, String(message['at']));
    for (const path of PAGES) assert.doesNotMatch(await scene.service.text(path), /\b100(\.0+)? ?%/, path);

    await scene.run(10 * MINUTE, 0);
    await eventually('a message that it is over', 5000, async () =>
      scene.reasons().find((reason) => reason.startsWith('resolved')),
    );
    const reasons = scene.reasons();
    assert.equal(reasons.filter((reason) => reason.startsWith('opened')).length, 1, reasons.join(', '));
    assert.equal(reasons.filter((reason) => reason.startsWith('resolved')).length, 1, reasons.join(', '));
    assert.match(await scene.service.text('/'), /No incident is open/);
  });
});
