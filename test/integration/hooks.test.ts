import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import type { IncidentDetailView, IncidentView, Page } from '../../src/model/views.ts';
import { type HookServer, startHookServer } from '../support/hook-server.ts';
import { eventually, type Hook, ServiceDirectory, startHook } from '../support/live-service.ts';
import { TailPusher } from '../support/tail-pusher.ts';
import { VirtualService } from '../support/virtual-service.ts';

const START = epochMs(1_800_000_000_000);
const STEP_MS = 10_000;
const MINUTE_MS = 60_000;
const LINK = 'https://captures.example.com/shop/7';
const WELL = {
  'http.server.request.duration': 0.15,
  'lb.stage.accept_queue.duration': 0.01,
  'lb.stage.tls.duration': 0.02,
  'lb.stage.backend.duration': 0.1,
  'lb.stage.write.duration': 0.01,
};
const SLOW = { ...WELL, 'http.server.request.duration': 0.6, 'lb.stage.write.duration': 0.6 };

/** Two balancers of one cluster, on a clock in our hands, with a capture hook and a receiver. */
class Scene {
  service: VirtualService;
  readonly directory: ServiceDirectory;
  readonly #balancers = ['edge-1', 'edge-2'].map((instance) => new TailPusher({ startMs: START, instance }));

  constructor(service: VirtualService, directory: ServiceDirectory) {
    this.service = service;
    this.directory = directory;
  }

  async step(p99s: Readonly<Record<string, number>>): Promise<void> {
    const at = epochMs(this.service.now + STEP_MS);
    await this.service.moveTo(at);
    for (const balancer of this.#balancers) await this.service.push(balancer.body(500, p99s, at));
    await this.service.advanceTo(at);
  }

  async run(forMs: number, p99s: Readonly<Record<string, number>>): Promise<void> {
    for (let passed = 0; passed < forMs; passed += STEP_MS) await this.step(p99s);
  }

  async incidents(): Promise<readonly IncidentView[]> {
    return (await this.service.json<Page<IncidentView>>('/api/v1/incidents')).items;
  }

  detail(id: number): Promise<IncidentDetailView> {
    return this.service.json<IncidentDetailView>(`/api/v1/incidents/${id}`);
  }

  async restart(): Promise<void> {
    const { now } = this.service;
    await this.service.stop();
    this.service = await VirtualService.start(this.directory, now);
  }
}

describe('a capture hook over the whole service', () => {
  let scene: Scene;
  let hooks: HookServer;
  let receiver: Hook;
  let firedAt = 0;
  before(async () => {
    hooks = await startHookServer();
    receiver = await startHook();
    hooks.answer = () => ({ status: 202, body: JSON.stringify({ link: LINK, note: 'ready in 30 s' }) });
    const directory = new ServiceDirectory({
      rules: {
        'routes.yaml': 'routes: []\n',
        'hooks.yaml': `capture: [{ name: tail, url: "${hooks.url}", secret: s3cret, alerts: [StageTailShift] }]\n`,
      },
      config: `receivers: [{ name: oncall, type: webhook, url: "${receiver.url}" }]\n`,
    });
    scene = new Scene(await VirtualService.start(directory, START), directory);
    await scene.run(90 * MINUTE_MS, WELL);
    assert.deepEqual(await scene.incidents(), []);
    for (let step = 0; step < 90 && firedAt === 0; step += 1) {
      await scene.step(SLOW);
      if ((await scene.incidents()).length > 0) firedAt = scene.service.now;
    }
  });
  after(async () => {
    await scene.service.stop();
    scene.directory.remove();
    await hooks.close();
    await receiver.close();
  });

  test('is called within the tick in which StageTailShift fires, signed, for the balancers that it is about', async () => {
    assert.notEqual(firedAt, 0, 'no incident');
    const call = await eventually('the call', 5000, async () => hooks.calls[0]);
    const { body, headers, text } = call;
    assert.equal(body['at'], new Date(firedAt).toISOString());
    assert.equal(body['kind'], 'capture');
    assert.deepEqual(body['capture'], {
      what: 'packets',
      balancers: ['edge-1', 'edge-2'],
      maxSeconds: 30,
      maxBytes: 16_777_216,
    });
    assert.equal((body['alert'] as { name: string }).name, 'StageTailShift');
    assert.equal(headers['idempotency-key'], body['eventId']);
    assert.equal(
      headers['x-slowburn-signature'],
      `sha256=${createHmac('sha256', 's3cret').update(text).digest('hex')}`,
    );
  });

  test('its link is on the incident: in the API, on the page, on the timeline', async () => {
    const [incident] = await scene.incidents();
    assert.ok(incident !== undefined);
    const detail = await eventually('the link', 5000, async () => {
      const found = await scene.detail(incident.id);
      return found.attachments.length > 0 ? found : null;
    });
    const at = new Date(firedAt).toISOString();
    assert.deepEqual(detail.attachments, [{ title: 'Capture of edge-1, edge-2', link: LINK, at, by: 'tail' }]);
    assert.deepEqual(
      detail.hooks.map(({ hook, state, link }) => [hook, state, link]),
      [['tail', 'done', LINK]],
    );
    const lines = detail.timeline.filter(({ change }) => change === 'hook').map(({ reason }) => reason);
    assert.deepEqual(lines, [
      'capture tail called: packets of edge-1, edge-2',
      `capture tail answered: packets of edge-1, edge-2; answered 202, ready in 30 s, ${LINK}`,
    ]);
    assert.match(await scene.service.text(`/incidents/${incident.id}`), new RegExp(`<a href="${LINK}"`));
  });

  test('it is asked for once, also over a restart, and later messages carry its link', async () => {
    await scene.run(3 * MINUTE_MS, SLOW);
    await scene.restart();
    await scene.run(3 * MINUTE_MS, SLOW);
    assert.equal(hooks.calls.length, 1);
    const [incident] = await scene.incidents();
    assert.ok(incident !== undefined);
    const answer = await fetch(scene.service.url(`/api/v1/incidents/${incident.id}/resolve`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ by: 'ada' }),
    });
    assert.equal(answer.status, 200);
    const closing = await eventually('the closing message', 5000, async () =>
      receiver.bodies.find(({ reason }) => reason === 'resolved'),
    );
    assert.deepEqual(
      (closing['attachments'] as { link: string }[]).map(({ link }) => link),
      [LINK],
    );
    assert.match(String(closing['text']), /Capture of edge-1, edge-2: https:\/\/captures\.example\.com\/shop\/7/);
  });
});
