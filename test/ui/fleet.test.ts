import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetPage } from '../../src/ui/pages/fleet.ts';
import { FAKE_FLEET, FAKE_NOW } from '../support/fake-queries.ts';

test('the fleet page says in words what each balancer tells of the stages, and never a zero for what is absent', () => {
  const { markup } = fleetPage(FAKE_FLEET, FAKE_NOW);
  const [envoy = '', haproxy = ''] = markup.split('<tbody>')[1]?.split('</tr>') ?? [];
  for (const line of [
    'accept queue: indirect signs only, no times',
    'TLS handshake: not reported',
    'connect: with the TLS handshake in it',
    'backend: with queueing and retries in it',
    'write: not reported',
  ]) {
    assert.ok(envoy.includes(`<li>${line}</li>`), line);
  }
  assert.equal(haproxy.match(/not reported/g)?.length, 5);
});

test('what was understood and what was ignored is listed', () => {
  const { markup } = fleetPage(FAKE_FLEET, FAKE_NOW);
  assert.match(markup, /<summary>2 understood<\/summary><ul><li>cluster\.upstream_rq<\/li>/);
  assert.match(markup, /<summary>1 ignored<\/summary><ul><li>server\.uptime<\/li>/);
  assert.match(markup, /none understood.*none ignored/s);
});

test('the fleet page names thresholds between two bounds, and what would make them exact', () => {
  const { markup } = fleetPage(FAKE_FLEET, FAKE_NOW);
  assert.match(markup, /upstream-latency: 0\.3 s lies between the bounds 0\.25 s and 0\.5 s; add 300 to the bounds/);
});
