import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseInstant } from '../../src/base/instant.ts';
import type { EpochMs } from '../../src/base/units.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import { effectiveRoutes, routeIncident } from '../../src/correlate/route.ts';
import type { Receiver, Route, WeekTimes } from '../../src/model/receiver.ts';
import { firstGap, isWithin } from '../../src/model/week-times.ts';
import { pageOf, Scene } from './scene.ts';

const receiverOf = (name: string): Receiver => ({
  name,
  type: 'webhook',
  url: 'http://127.0.0.1:9/',
  secret: null,
  sendResolved: true,
});

describe('routes in force', () => {
  const names = (receivers: readonly string[], heartbeat: string | null, routes: readonly Route[] = []): string[] =>
    effectiveRoutes(routes, receivers.map(receiverOf), heartbeat).map(({ receiver }) => receiver);

  test('without any, everything goes to the first receiver', () => {
    assert.deepEqual(names(['a', 'b'], null), ['a']);
    assert.deepEqual(names([], null), []);
  });

  test('but not to the one of the heartbeat while there is another', () => {
    assert.deepEqual(names(['watch', 'oncall', 'queue'], 'watch'), ['oncall']);
    assert.deepEqual(names(['oncall', 'watch'], 'watch'), ['oncall']);
    assert.deepEqual(names(['oncall'], 'oncall'), ['oncall']);
  });

  test('what is written stands, also for the one of the heartbeat', () => {
    assert.deepEqual(names(['watch', 'oncall'], 'watch', [{ receiver: 'watch', severity: [], matchers: [] }]), [
      'watch',
    ]);
  });
});

describe('times of the week', () => {
  const berlin = zoneRulesOf('Europe/Berlin');
  const at = (text: string): EpochMs => parseInstant(text) ?? assert.fail(text);
  const office = (weekdays: readonly number[], from: number, to: number): WeekTimes => {
    assert.ok(berlin !== null);
    return { weekdays, from: from * 60, to: to * 60, zone: berlin };
  };
  const WORKDAYS = [0, 1, 2, 3, 4];

  const cases: readonly [text: string, times: WeekTimes, isIn: boolean][] = [
    ['2027-01-04T07:59:59Z', office(WORKDAYS, 9, 18), false],
    ['2027-01-04T08:00:00Z', office(WORKDAYS, 9, 18), true],
    ['2027-01-04T16:59:59Z', office(WORKDAYS, 9, 18), true],
    ['2027-01-04T17:00:00Z', office(WORKDAYS, 9, 18), false],
    // In summer the same clock times are an hour earlier.
    ['2027-07-05T07:00:00Z', office(WORKDAYS, 9, 18), true],
    ['2027-07-05T16:00:00Z', office(WORKDAYS, 9, 18), false],
    ['2027-01-09T10:00:00Z', office(WORKDAYS, 9, 18), false],
    // A night that began on Friday goes on until Saturday morning, one of Sunday is not asked for.
    ['2027-01-09T03:00:00Z', office(WORKDAYS, 18, 9), true],
    ['2027-01-10T20:00:00Z', office(WORKDAYS, 18, 9), false],
    ['2027-01-04T03:00:00Z', office(WORKDAYS, 18, 9), false],
    ['2027-01-04T03:00:00Z', office([6], 18, 9), true],
    ['2027-01-04T22:59:59Z', office([0], 0, 24), true],
    ['2027-01-04T23:00:00Z', office([0], 0, 24), false],
    // 02:30 is shown twice at the end of summer time: both count.
    ['2027-10-31T00:30:00Z', office([6], 2, 3), true],
    ['2027-10-31T01:30:00Z', office([6], 2, 3), true],
    ['2027-10-31T02:30:00Z', office([6], 2, 3), false],
  ];
  for (const [text, times, isIn] of cases) {
    const { weekdays, from, to } = times;
    test(`${text} is ${isIn ? 'in' : 'outside'} ${weekdays.join()} ${from / 60} to ${to / 60}`, () => {
      assert.equal(isWithin(times, at(text)), isIn);
    });
  }

  test('a route sends by owner, service and time, all of which must hold', () => {
    const { notifications } = new Scene().at(0, ['fired', pageOf()]);
    const incident = notifications[0]?.incident ?? assert.fail('nothing was said');
    const receivers = ['a', 'b', 'c', 'd', 'e'].map(receiverOf);
    const route = (receiver: string, more: Partial<Route>): Route => ({
      receiver,
      severity: [],
      matchers: [],
      ...more,
    });
    const routes = [
      route('a', { owners: ['service', 'edge'], services: ['shop'] }),
      route('b', { owners: ['network'] }),
      route('c', { services: ['search'] }),
      route('d', { times: office(WORKDAYS, 9, 18) }),
      route('e', { times: office(WORKDAYS, 18, 9) }),
    ];
    const told = (text: string) => routeIncident(incident, 'page', routes, receivers, at(text)).map(({ name }) => name);
    assert.deepEqual(told('2027-01-04T10:00:00Z'), ['a', 'd']);
    assert.deepEqual(told('2027-01-04T20:00:00Z'), ['a', 'e']);
    assert.deepEqual(told('2027-01-09T12:00:00Z'), ['a']);
  });

  test('the first quarter of an hour of the week that no route covers is found', () => {
    const monday = at('2027-01-04T00:00:00Z');
    const day: Route = { receiver: 'a', severity: ['page'], matchers: [], times: office([0, 1, 2, 3, 4, 5, 6], 9, 18) };
    const night: Route = { ...day, times: office([0, 1, 2, 3, 4, 5, 6], 18, 9) };
    const weeknights: Route = { ...day, times: office(WORKDAYS, 18, 9) };
    assert.equal(firstGap([day, night], 'page', monday), null);
    assert.equal(firstGap([day], 'page', monday), monday);
    // Monday's small hours belong to Sunday night.
    assert.equal(firstGap([day, weeknights], 'page', at('2027-01-04T12:00:00Z')), at('2027-01-09T17:00:00Z'));
    assert.equal(firstGap([{ ...day, times: null }], 'ticket', monday), monday);
    assert.equal(firstGap([{ ...day, times: null, owners: ['edge'] }], 'page', monday), monday);
  });
});
