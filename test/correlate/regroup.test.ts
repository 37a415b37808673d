import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Apart } from '../../src/correlate/apart.ts';
import type { IncidentAction } from '../../src/model/incident.ts';
import { alertOf } from '../support/alerts.ts';
import { CHECKOUT, minuteOf, pageOf, Scene } from './scene.ts';

const DISK = alertOf('DiskFull', CHECKOUT, { severity: 'page' });
const FAN = alertOf('FanBroken', CHECKOUT, { severity: 'page', since: 1 });
const split = (...keys: string[]): IncidentAction => ({
  kind: 'split',
  by: 'ada',
  note: 'another matter',
  alerts: keys,
});
const merge = (into: number): IncidentAction => ({ kind: 'merge', by: 'ada', note: null, into });
const membersOf = (scene: Scene, id: number): string[] =>
  (scene.stored.get(id)?.members ?? []).map(({ alert, state }) => `${alert.name} ${state}`);
const together = (): Scene => new Scene().at(0, ['fired', DISK]).at(1, ['fired', FAN]);

describe('split', () => {
  test('makes an incident of its own, which pages once; each closes once', () => {
    const scene = together();
    assert.equal(scene.act(2, split(FAN.key)), 'done');
    assert.deepEqual(membersOf(scene, 1), ['DiskFull firing', 'FanBroken moved']);
    assert.deepEqual(membersOf(scene, 2), ['FanBroken firing']);
    assert.deepEqual(scene.stored.get(2)?.title, 'FanBroken (cluster checkout)');
    scene.at(3).at(4, ['resolved', FAN]).ticks(5, 10).at(11, ['resolved', DISK]).ticks(12, 20);
    assert.deepEqual(scene.said, ['1/1 opened', '2/1 opened', '2/1 resolved', '1/1 resolved']);
    assert.ok(scene.timeline.includes('1 split') && scene.timeline.includes('2 split'));
  });

  test('of what somebody has stays with that person, and is not told of again', () => {
    const scene = together();
    scene.act(2, { kind: 'acknowledge', by: 'bob', note: null, until: null });
    scene.act(3, split(FAN.key));
    scene.at(4);
    assert.deepEqual([scene.stored.get(2)?.state, scene.stored.get(2)?.acknowledgement?.by], ['acknowledged', 'bob']);
    scene.at(5, ['resolved', FAN], ['resolved', DISK]).ticks(6, 15);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
  });

  test('is remembered: later alerts of the two kinds do not join in that place, others and elsewhere do', () => {
    const scene = together();
    scene.act(2, split(FAN.key));
    scene.at(3, ['resolved', FAN], ['resolved', DISK]).ticks(4, 400);
    const later = (name: string, cluster: string) => alertOf(name, { cluster }, { severity: 'page', since: 401 });
    scene.at(401, ['fired', later('DiskFull', 'other')], ['fired', later('FanBroken', 'other')]);
    assert.equal(scene.open.length, 1);
    const host = (name: string, id: string) =>
      alertOf(name, { ...CHECKOUT, host: id }, { severity: 'page', since: 402 });
    scene.at(
      402,
      ['fired', host('DiskFull', 'h1')],
      ['fired', host('FanBroken', 'h2')],
      ['fired', host('Third', 'h3')],
    );
    assert.deepEqual(
      scene.open.map(({ members }) => members.map(({ alert }) => alert.name)),
      [['DiskFull', 'FanBroken'], ['DiskFull', 'Third'], ['FanBroken']],
    );
  });

  test('is remembered by a new process that is given what was learnt', () => {
    const scene = together();
    const acted = scene.correlator.act(1, split(FAN.key), minuteOf(2));
    assert.ok(acted.kind === 'done');
    const learnt = JSON.parse(JSON.stringify(acted.result.apart)) as readonly Apart[];
    assert.deepEqual(learnt, [{ kinds: ['DiskFull', 'FanBroken'], place: 'cluster checkout', at: minuteOf(2) }]);
    const next = new Scene();
    next.correlator.restore([], 7, learnt);
    next.at(3, ['fired', DISK], ['fired', FAN]);
    assert.equal(next.open.length, 2);
  });

  test('needs alerts that are there, and leaves one', () => {
    const scene = together();
    assert.equal(scene.act(2, split('nothing')), 'conflict');
    assert.equal(scene.act(2, split(FAN.key, DISK.key)), 'conflict');
    assert.equal(scene.act(2, split()), 'conflict');
    assert.equal(scene.act(2, split(FAN.key), 9), 'not_found');
    scene.act(3, split(FAN.key));
    assert.equal(scene.act(4, split(FAN.key)), 'conflict');
  });
});

describe('merge', () => {
  const apart = (): Scene =>
    new Scene().at(0, ['fired', DISK]).at(1, ['fired', pageOf({ cluster: 'search' }, { since: 1 })]);

  test('moves all alerts, tells receivers of the one that went, and closes the other once', () => {
    const scene = apart();
    assert.equal(scene.open.length, 2);
    assert.equal(scene.act(2, merge(1), 2), 'done');
    assert.deepEqual(membersOf(scene, 1), ['DiskFull firing', 'ErrorBudgetBurn firing']);
    assert.equal(scene.stored.get(2)?.mergedInto, 1);
    scene
      .at(3)
      .at(4, ['resolved', DISK], ['resolved', pageOf({ cluster: 'search' }, { since: 1 })])
      .ticks(5, 15);
    assert.deepEqual(scene.said, ['1/1 opened', '2/1 opened', '2/1 merged', '1/1 resolved']);
  });

  test('takes back what a split taught', () => {
    const scene = together();
    scene.act(2, split(FAN.key));
    scene.at(3);
    assert.equal(scene.act(4, merge(1), 2), 'done');
    scene.at(5, ['resolved', FAN], ['resolved', DISK]).ticks(6, 400);
    const again = (name: string) => alertOf(name, { ...CHECKOUT, host: 'h' }, { severity: 'page', since: 401 });
    scene.at(401, ['fired', again('DiskFull')], ['fired', again('FanBroken')]);
    assert.equal(scene.open.length, 1);
  });

  test('needs two open incidents', () => {
    const scene = apart();
    assert.equal(scene.act(2, merge(1), 1), 'conflict');
    assert.equal(scene.act(2, merge(9), 1), 'conflict');
    assert.equal(scene.act(2, merge(1), 9), 'not_found');
    scene.act(3, { kind: 'resolve', by: 'ada', note: null }, 2);
    assert.equal(scene.act(4, merge(2), 1), 'conflict');
    assert.equal(scene.act(4, merge(1), 2), 'conflict');
  });
});
