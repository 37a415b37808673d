import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ms } from '../../src/base/units.ts';
import { LeadHistory } from '../../src/correlate/lead-history.ts';
import type { Incident, IncidentAction } from '../../src/model/incident.ts';
import { alertOf, MINUTE } from '../support/alerts.ts';
import { CHECKOUT, pageOf, Scene } from './scene.ts';

const resolve: IncidentAction = { kind: 'resolve', by: 'ada', note: 'rolled back' };

describe('openAfter and minAlerts', () => {
  const openAfter = ms(2 * MINUTE);

  test('an alert that ends before openAfter leaves no timeline and is told to nobody', () => {
    const scene = new Scene({ openAfter }).at(0, ['fired', pageOf()]).at(1, ['resolved', pageOf()]).ticks(2, 10);
    assert.deepEqual([scene.timeline, scene.said], [[], []]);
    assert.deepEqual(scene.correlator.incidents(), []);
    assert.equal(scene.stored.get(1)?.state, 'resolved', 'history has it');
  });

  test('one that goes on opens then, and what joined it meanwhile is told with its reason', () => {
    const scene = new Scene({ openAfter }).at(0, ['fired', pageOf()]);
    scene.at(1, ['fired', alertOf('HostEjections', CHECKOUT, { since: 1 })]);
    assert.deepEqual(scene.timeline, []);
    scene.at(2);
    assert.deepEqual(scene.timeline, ['1 opened', '1 joined']);
    assert.match(scene.changes[1]?.reason ?? '', /^HostEjections explains ErrorBudgetBurn/);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('a flap starts the wait anew', () => {
    const scene = new Scene({ openAfter }).at(0, ['fired', pageOf()]).at(1, ['resolved', pageOf()]);
    scene.at(2, ['fired', pageOf(CHECKOUT, { since: 2 })]).at(3);
    assert.deepEqual(scene.said, []);
    scene.at(4);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('three distinct alerts open it with all three, copies of one do not', () => {
    const scene = new Scene({ minAlerts: 3 }).at(0, ['fired', alertOf('Cpu', CHECKOUT)]);
    scene.at(1, ['fired', alertOf('Cpu', CHECKOUT)]).at(2, ['fired', alertOf('Disk', CHECKOUT, { since: 2 })]);
    assert.deepEqual(scene.said, []);
    scene.at(3, ['fired', alertOf('Heat', CHECKOUT, { since: 3 })]);
    assert.deepEqual(scene.said, ['1/1 opened']);
    assert.equal(scene.open[0]?.members.length, 3);
  });

  test('a restart while it waits loses nothing', () => {
    const scene = new Scene({ openAfter }).at(0, ['fired', pageOf()]).restart().at(2);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('the newest open incident is one that people know', () => {
    const scene = new Scene({ openAfter }).at(0, ['fired', pageOf()]);
    assert.equal(scene.act(1, resolve, 'newest_open'), 'not_found');
    scene.at(2);
    assert.equal(scene.act(3, resolve, 'newest_open'), 'done');
  });

  test('a start in the future counts as now', () => {
    const scene = new Scene().at(0, ['fired', pageOf(CHECKOUT, { since: 9 })]);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });
});

describe('the same changes within one tick', () => {
  test('an alert that came and went between two ticks makes no incident', () => {
    const scene = new Scene().at(0, ['resolved', pageOf()], ['fired', pageOf()]).ticks(1, 10);
    assert.deepEqual([scene.timeline, scene.said], [[], []]);
  });

  test('an alert that ended and began again still fires', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    scene.at(5, ['fired', pageOf(CHECKOUT, { since: 5 })], ['resolved', pageOf()]).ticks(6, 20);
    assert.equal(scene.open[0]?.members[0]?.state, 'firing');
    assert.deepEqual(scene.said, ['1/1 opened']);
  });
});

describe('coming back', () => {
  const life = (scene: Scene, from: number): Scene =>
    scene
      .at(from, ['fired', pageOf(CHECKOUT, { since: from })])
      .at(from + 1, ['resolved', pageOf(CHECKOUT, { since: from })])
      .ticks(from + 2, from + 6);

  test('after the time to reopen it is a new incident that names the last', () => {
    const scene = life(life(new Scene(), 0).ticks(7, 59), 60);
    assert.deepEqual(
      [...scene.stored.values()].map(({ id, previous }) => [id, previous]),
      [
        [1, null],
        [2, 1],
      ],
    );
  });

  test('each recurrence doubles the time to reopen', () => {
    const scene = life(life(life(new Scene(), 0), 20), 55);
    assert.deepEqual([scene.stored.size, scene.stored.get(1)?.episode], [1, 3]);
    const late = life(life(new Scene(), 0), 22);
    assert.equal(late.stored.size, 2, '16 min after the first end is too late');
  });

  test('the newest incident of a lead is remembered, without bound in time but not in number', () => {
    const history = new LeadHistory();
    const note = (id: number, lead: string): void => history.note({ id, lead } as Incident);
    note(1, 'a');
    note(3, 'a');
    note(2, 'a');
    assert.equal(history.lastOf('a'), 3);
    for (let id = 4; id < 10_004; id += 1) note(id, `lead ${id}`);
    assert.deepEqual([history.lastOf('a'), history.lastOf('lead 10003')], [null, 10_003]);
  });

  test('what can no longer reopen is let go, and saying so is a conflict, not a riddle', () => {
    const scene = life(new Scene(), 0).ticks(20, 23);
    assert.deepEqual(scene.correlator.incidents(), []);
    assert.equal(scene.act(24, { kind: 'reopen', by: 'ada', note: null }), 'conflict');
    assert.equal(scene.act(24, { kind: 'reopen', by: 'ada', note: null }, 2), 'not_found');
  });
});

describe('resolved by hand while it fires', () => {
  const muted = (): Scene => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    scene.act(1, resolve);
    return scene;
  };

  test('it stays so for as long as the alert fires, however its figures change', () => {
    const scene = muted()
      .ticks(2, 30)
      .at(300, ['changed', pageOf(CHECKOUT, { tier: '6h' })])
      .ticks(301, 303);
    assert.deepEqual([scene.open, scene.said], [[], ['1/1 opened', '1/1 resolved']]);
  });

  test('it is over when the alert ends, and a new start long after is a new incident', () => {
    const scene = muted().at(60, ['resolved', pageOf()]).ticks(61, 62);
    assert.deepEqual(scene.correlator.incidents(), []);
    scene.at(90, ['fired', pageOf(CHECKOUT, { since: 90 })]);
    assert.deepEqual(scene.said.at(-1), '2/1 opened');
  });

  test('a rise long after opens a new incident and leaves nothing behind', () => {
    const ticket = pageOf(CHECKOUT, { severity: 'ticket', tier: '10d' });
    const scene = new Scene().at(0, ['fired', ticket]);
    scene.act(1, resolve);
    scene.ticks(2, 4).at(1500, ['changed', pageOf()]);
    assert.deepEqual(scene.said.slice(2), ['2/1 opened']);
    assert.deepEqual(
      scene.correlator.incidents().map(({ id }) => id),
      [2],
    );
  });

  test('reopened by hand it says nothing at once, and closes itself when nothing fires', () => {
    const scene = muted().at(2, ['resolved', pageOf()]);
    assert.equal(scene.act(3, { kind: 'reopen', by: 'ada', note: 'not over' }), 'done');
    scene.ticks(4, 12);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
    assert.deepEqual(scene.timeline.slice(-2), ['1 reopened', '1 resolved']);
  });
});

describe('lead and title', () => {
  test('the lead is a cause that fires; when it ends, the lead passes on', () => {
    const ejections = alertOf('HostEjections', CHECKOUT, { since: 1 });
    const scene = new Scene().at(0, ['fired', pageOf()]).at(1, ['fired', ejections]);
    assert.equal(scene.open[0]?.lead, ejections.key);
    assert.equal(scene.open[0]?.runbook, 'HostEjections');
    scene.at(2, ['resolved', ejections]);
    assert.equal(scene.open[0]?.lead, pageOf().key);
    assert.equal(scene.timeline.filter((line) => line === '1 lead_changed').length, 2);
  });

  test('of equals the first to start leads, then the first by name', () => {
    const scene = new Scene().at(0, ['fired', alertOf('B', CHECKOUT)], ['fired', alertOf('A', CHECKOUT)]);
    assert.equal(scene.open[0]?.lead, alertOf('A', CHECKOUT).key);
    const other = new Scene().at(
      0,
      ['fired', alertOf('B', CHECKOUT, { since: -1 })],
      ['fired', alertOf('A', CHECKOUT)],
    );
    assert.equal(other.open[0]?.lead, alertOf('B', CHECKOUT).key);
  });

  test('a title keeps its words while figures change', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    const title = scene.open[0]?.title;
    scene.at(1, ['updated', { ...pageOf(), summary: 'Errors 97 % of requests.' }]);
    assert.equal(scene.open[0]?.title, title);
    assert.doesNotMatch(title ?? '', /\d/);
  });
});
