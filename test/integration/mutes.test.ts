import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AlertView, IncidentDetailView, Page, SilencePreviewView, SilenceView } from '../../src/model/views.ts';
import { CheckoutService, openCheckout } from '../support/checkout-service.ts';
import { eventually } from '../support/live-service.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const iso = (at: number): string => new Date(at).toISOString();

/** With its API. */
class Scene extends CheckoutService {
  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(this.service.url(path), {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return JSON.parse(text) as T;
  }
}

describe('a silence over the whole service', () => {
  let scene: Scene;
  let silence: SilenceView;
  before(async () => {
    scene = await openCheckout(Scene);
    await scene.run(40 * MINUTE, 0);
    silence = await scene.send<SilenceView>('POST', '/api/v1/silences', {
      matchers: [{ name: 'cluster', value: 'checkout', isRegex: false }],
      endsAt: iso(scene.service.now + 30 * MINUTE),
      createdBy: 'ada',
      comment: 'kernel update',
    });
    await scene.run(15 * MINUTE, 30);
  });
  after(() => scene.close());

  test('nobody is told, and nothing is invisible', async () => {
    assert.deepEqual(scene.reasons(), []);
    const { items } = await scene.service.json<Page<AlertView>>('/api/v1/alerts');
    const burn = items.find(({ name }) => name === 'ErrorBudgetBurn');
    assert.equal(burn?.mutes[0]?.silence, silence.id);
    const incident = await scene.service.json<IncidentDetailView>('/api/v1/incidents/1');
    assert.equal(incident.severity, 'page');
    assert.ok(incident.members.some(({ alert }) => alert.mutes.some(({ text }) => text.includes('kernel update'))));
    assert.ok(incident.timeline.some(({ change, reason }) => change === 'muted' && reason.includes('by ada')));
    assert.match(await scene.service.text('/incidents/1'), /nobody is told of this incident/);
    assert.match(await scene.service.text('/'), /Its lead is muted: silence/);
    const [listed] = (await scene.service.json<Page<SilenceView>>('/api/v1/silences')).items;
    assert.ok(listed !== undefined && listed.alerts > 0);
  });

  test('the preview tells what it would mute now and would have muted', async () => {
    const matchers = [{ name: 'alertname', value: 'ErrorBudgetBurn', isRegex: false }];
    const preview = await scene.send<SilencePreviewView>('POST', '/api/v1/silences/preview', { matchers });
    assert.deepEqual(
      preview.alerts.map(({ name }) => name),
      ['ErrorBudgetBurn'],
    );
    assert.deepEqual(
      preview.incidents.map(({ id }) => id),
      [1],
    );
    assert.deepEqual(
      preview.past.map(({ incident }) => incident),
      [1],
    );
    const none = { matchers: [{ name: 'cluster', value: 'search', isRegex: false }] };
    const nothing = await scene.send<SilencePreviewView>('POST', '/api/v1/silences/preview', none);
    assert.deepEqual([nothing.alerts, nothing.incidents, nothing.past], [[], [], []]);
  });

  test('it survives a restart, and its end is told at its tick and written down once', async () => {
    await scene.restart();
    await scene.run(14 * MINUTE, 30);
    assert.deepEqual(scene.reasons(), []);
    await scene.run(2 * MINUTE, 30);
    await eventually('a message', 5000, async () => scene.reasons()[0]);
    assert.deepEqual(scene.reasons(), ['unmuted']);
    assert.equal(scene.hook.bodies[0]?.['at'], silence.endsAt);
    const incident = await scene.service.json<IncidentDetailView>('/api/v1/incidents/1');
    const lines = incident.timeline.filter(({ reason }) => reason.includes(silence.id)).map(({ change }) => change);
    assert.ok(lines.includes('muted') && lines.filter((change) => change === 'unmuted').length === 1, lines.join());
  });
});
