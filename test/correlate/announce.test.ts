import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ms } from '../../src/base/units.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { IncidentAction } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { alertOf } from '../support/alerts.ts';
import { CHECKOUT, minuteOf, pageOf, Scene } from './scene.ts';

const zoneB = { key: 'BalancerSaturation{zone="b"}', place: { zone: 'b' } };

const ack: IncidentAction = { kind: 'acknowledge', by: 'ada', note: null, until: null };
const snooze = (until: number): IncidentAction => ({ kind: 'snooze', by: 'ada', note: null, until: minuteOf(until) });
const ticketOf = (since = 0): Alert => pageOf(CHECKOUT, { severity: 'ticket', tier: '10d', since });

describe('what pages again', () => {
  test('a member that joins says nothing', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]).at(1, ['fired', alertOf('HostEjections', CHECKOUT)]);
    assert.deepEqual(scene.said, ['1/1 opened']);
    assert.ok(scene.timeline.includes('1 joined'));
  });

  test('a page that flaps beside a steady ticket pages once', () => {
    const scene = new Scene().at(0, ['fired', alertOf('HostEjections', CHECKOUT)], ['fired', pageOf()]);
    for (const minute of [10, 20, 30]) {
      scene.at(minute, ['resolved', pageOf()]).ticks(minute + 1, minute + 3);
      scene.at(minute + 4, ['fired', pageOf(CHECKOUT, { since: minute + 4 })]);
    }
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('a page that ended for good beside a steady ticket is told as a fall once the hold is over', () => {
    const scene = new Scene().at(0, ['fired', alertOf('HostEjections', CHECKOUT)], ['fired', pageOf()]);
    scene.at(10, ['resolved', pageOf()]).ticks(11, 14);
    assert.deepEqual(scene.said, ['1/1 opened']);
    scene.ticks(15, 30);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 deescalated']);
    assert.equal(scene.open[0]?.severity, 'ticket');
    assert.equal(scene.open[0]?.tier, null);
  });

  test('where a whole service was announced, a zone of the balancers is no news; a cluster is', () => {
    const causes = [
      { cause: 'BalancerSaturation', effect: 'ErrorBudgetBurn', scope: 'all' as const, within: ms(600_000) },
    ];
    const edge = alertOf('ErrorBudgetBurn', { service: 'edge' }, { severity: 'page', tier: '50h' });
    const saturated = alertOf('BalancerSaturation', { zone: 'a', region: 'r1' }, { severity: 'page', since: 1 });
    const scene = new Scene({ causes }).at(0, ['fired', edge]).at(1, ['fired', saturated]);
    assert.deepEqual(scene.said, ['1/1 opened']);
    const other = new Scene({ causes }).at(0, ['fired', saturated]).at(1, ['fired', { ...saturated, ...zoneB }]);
    assert.deepEqual(other.said, ['1/1 opened', '2/1 opened']);
    other.at(2, ['fired', edge]).at(3, ['fired', pageOf(CHECKOUT, { since: 3 })]);
    assert.deepEqual(other.said.slice(2), ['1/1 new_failure_domain']);
  });

  test('zones that follow a page within a minute are what it is about; later ones are news', () => {
    const zone = (name: string, since: number): Alert => pageOf({ ...CHECKOUT, zone: name }, { since });
    const scene = new Scene().at(0, ['fired', zone('a', 0)]).at(1 / 6, ['fired', zone('b', 1 / 6)]);
    assert.deepEqual(scene.said, ['1/1 opened']);
    assert.deepEqual(scene.open[0]?.announced.domains, ['cluster checkout', 'zone a', 'zone b']);
    scene.ticks(1, 4).at(5, ['fired', zone('c', 5)]);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 new_failure_domain']);
  });

  test('where an alert pages for the whole fleet, its zones are no news', () => {
    const causes = [
      { cause: 'HandshakeStorm', effect: 'BalancerSaturation', scope: 'all' as const, within: ms(600_000) },
    ];
    const fleet: Alert = {
      ...alertOf('HandshakeStorm', {}, { severity: 'page' }),
      labels: labelsOf([['scope', 'fleet']]),
    };
    const zone = alertOf('BalancerSaturation', { zone: 'a' }, { severity: 'page' });
    const scene = new Scene({ causes }).at(0, ['fired', { ...fleet, severity: 'ticket' }], ['fired', zone]);
    scene.at(1, ['changed', fleet], ['fired', { ...zone, ...zoneB }]);
    assert.deepEqual(
      scene.notifications.map(({ reason, why }) => `${reason}: ${why}`),
      ['opened: first alert of a new incident', 'new_failure_domain: it reached the whole fleet'],
    );
  });

  test('a whole cluster that was announced has no new zones', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    scene.at(1, ['fired', pageOf({ ...CHECKOUT, zone: 'a' }, { since: 1 })]);
    assert.equal(scene.open[0]?.members.length, 2);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('a cluster that was announced by one zone is not news as a whole', () => {
    const scene = new Scene().at(0, ['fired', pageOf({ ...CHECKOUT, zone: 'a' })]);
    scene.at(1, ['fired', pageOf(CHECKOUT, { since: 1 })]);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('a new zone pages also in a reopened episode that nothing was said of, and also when acknowledged', () => {
    const zone = (name: string, since: number): Alert => pageOf({ ...CHECKOUT, zone: name }, { since });
    const scene = new Scene()
      .at(0, ['fired', zone('a', 0)])
      .at(5, ['resolved', zone('a', 0)])
      .ticks(6, 10);
    scene.at(12, ['fired', zone('a', 12)]).at(13, ['fired', zone('b', 13)]);
    scene.act(14, ack);
    scene.at(15, ['fired', zone('c', 15)]).at(16);
    assert.deepEqual(scene.said.slice(2), ['1/2 new_failure_domain', '1/2 new_failure_domain']);
  });

  test('a ticket in a new zone pages nobody', () => {
    const scene = new Scene().at(0, ['fired', pageOf({ ...CHECKOUT, zone: 'a' })]);
    scene.at(1, ['fired', alertOf('HostEjections', { ...CHECKOUT, zone: 'b' }, { since: 1 })]);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('a faster page tier is in the timeline; only the fastest is told', () => {
    const scene = new Scene().at(0, ['fired', pageOf(CHECKOUT, { tier: '5d' })]).at(20, ['changed', pageOf()]);
    assert.equal(scene.timeline.filter((line) => line === '1 escalated').length, 1);
    assert.equal(scene.open[0]?.tier, '50h');
    assert.deepEqual(scene.said, ['1/1 opened']);
  });
});

describe('after a reopening', () => {
  const flapped = (): Scene => new Scene().at(0, ['fired', pageOf()]).at(10, ['resolved', pageOf()]).ticks(11, 16);

  test('the 15 min of a page count from its last start', () => {
    const scene = flapped().at(20, ['fired', pageOf(CHECKOUT, { since: 20 })]);
    scene.at(21, ['resolved', pageOf(CHECKOUT, { since: 20 })]).ticks(22, 24);
    scene.at(25, ['fired', pageOf(CHECKOUT, { since: 25 })]).ticks(26, 39);
    assert.deepEqual(scene.said.slice(2), []);
    scene.ticks(40, 60);
    assert.deepEqual(scene.said.slice(2), ['1/2 still_burning']);
  });

  test('a tenth of the budget is enough', () => {
    const scene = flapped().at(20, ['fired', pageOf(CHECKOUT, { since: 20 })]);
    scene.at(21, ['updated', pageOf(CHECKOUT, { since: 20, spentSince: 0.09 })]);
    assert.deepEqual(scene.said.slice(2), []);
    scene.at(22, ['updated', pageOf(CHECKOUT, { since: 20, spentSince: 0.1 })]).at(23);
    assert.deepEqual(scene.said.slice(2), ['1/2 still_burning']);
  });

  test('who acknowledged is not told that it still burns', () => {
    const scene = flapped().at(20, ['fired', pageOf(CHECKOUT, { since: 20 })]);
    scene.act(21, ack);
    scene.ticks(22, 60);
    assert.deepEqual(scene.said.slice(2), []);
  });

  test('a page that came back as a ticket and rises pages', () => {
    const scene = flapped()
      .at(20, ['fired', ticketOf(20)])
      .ticks(21, 22);
    scene.at(23, ['changed', pageOf(CHECKOUT, { since: 20 })]).at(24);
    assert.deepEqual(scene.said.slice(2), ['1/2 escalated']);
  });

  test('a page into an incident that resolved as a ticket pages, a day later too', () => {
    const scene = new Scene().at(0, ['fired', ticketOf()]).at(10, ['resolved', ticketOf()]).ticks(11, 16);
    scene.at(1400, ['fired', pageOf(CHECKOUT, { since: 1400 })]);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved', '1/2 escalated']);
  });

  test('a ticket that comes back as a ticket says nothing and closes nothing', () => {
    const scene = new Scene().at(0, ['fired', ticketOf()]).at(10, ['resolved', ticketOf()]).ticks(11, 16);
    scene
      .at(100, ['fired', ticketOf(100)])
      .at(110, ['resolved', ticketOf(100)])
      .ticks(111, 116);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
    assert.equal(scene.timeline.at(-1), '1 resolved');
  });
});

describe('acknowledgements and snoozes', () => {
  test('a note keeps an acknowledgement alive', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    scene.act(1, ack);
    scene.act(50, { kind: 'note', by: 'ada', note: 'draining the host' });
    scene.ticks(51, 109);
    assert.deepEqual(scene.said, ['1/1 opened']);
    scene.at(110);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 ack_lapsed']);
  });

  test('an acknowledgement does not lapse under a snooze; its end says one thing', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    scene.act(1, ack);
    scene.act(2, snooze(180));
    scene.ticks(60, 179);
    assert.deepEqual(scene.said, ['1/1 opened']);
    scene.ticks(180, 181);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 unmuted']);
    assert.equal(scene.open[0]?.state, 'open');
  });

  test('a rise to page in the tick in which an acknowledgement would lapse says that it rose, once', () => {
    const scene = new Scene().at(0, ['fired', ticketOf()]);
    scene.act(1, ack);
    scene.at(90, ['changed', pageOf()]).at(91);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 escalated']);
  });

  test('a rise to page breaks a snooze', () => {
    const scene = new Scene().at(0, ['fired', ticketOf()]);
    scene.act(1, snooze(180));
    scene.at(5, ['changed', pageOf()]);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 escalated']);
    assert.equal(scene.open[0]?.snoozedUntil, null);
  });

  test('a snooze that runs out while all is quiet pages nobody when it comes back', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]);
    scene.act(1, snooze(12));
    scene.at(2, ['resolved', pageOf()]).ticks(3, 8);
    scene.at(14, ['fired', pageOf(CHECKOUT, { since: 14 })]).at(15);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
  });
});
