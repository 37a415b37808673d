import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ms } from '../../src/base/units.ts';
import type { CorrelationSettings } from '../../src/correlate/settings.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { IncidentAction } from '../../src/model/incident.ts';
import { alertOf, MINUTE, SETTINGS } from '../support/alerts.ts';
import { CHECKOUT, minuteOf, pageOf, Scene, type Step } from './scene.ts';

type Event = readonly [minute: number, ...steps: readonly (Step | IncidentAction | 'restart')[]];

interface Scenario {
  readonly name: string;
  readonly settings?: Partial<CorrelationSettings>;
  readonly events: readonly Event[];
  readonly until: number;
  /** `<incident>/<episode> <reason>`, all that is said. */
  readonly said: readonly string[];
  readonly open: number;
  readonly incidents: number;
}

const A = alertOf('DiskFull', CHECKOUT, { severity: 'page' });
const again = (since: number): Alert => alertOf('DiskFull', CHECKOUT, { severity: 'page', since });
const burning = (tier: string, severity: 'page' | 'ticket'): Alert => pageOf(CHECKOUT, { tier, severity });
const host = (cluster: string, name: string, since: number): Alert =>
  alertOf('HostEjections', { cluster, host: name }, { since });
const ack: IncidentAction = { kind: 'acknowledge', by: 'ada', note: null, until: null };
const resolve: IncidentAction = { kind: 'resolve', by: 'ada', note: null };

/** Situations in which other tools are known to page wrongly, with the outcome that people asked for. */
const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a restart with everything firing says nothing',
    events: [
      [0, ['fired', pageOf()], ['fired', host('checkout', 'h1', 0)]],
      [60, 'restart'],
      [61, ['updated', pageOf()]],
    ],
    until: 70,
    said: ['1/1 opened'],
    open: 1,
    incidents: 1,
  },
  {
    name: 'a restart between recovery and its hold closes the incident once',
    events: [
      [0, ['fired', pageOf()]],
      [10, ['resolved', pageOf()]],
      [12, 'restart'],
    ],
    until: 30,
    said: ['1/1 opened', '1/1 resolved'],
    open: 0,
    incidents: 1,
  },
  {
    name: 'a restart after the end does not hinder a reopening',
    events: [
      [0, ['fired', pageOf()]],
      [10, ['resolved', pageOf()]],
      [16, 'restart'],
      [20, ['fired', pageOf(CHECKOUT, { since: 20 })]],
    ],
    until: 30,
    said: ['1/1 opened', '1/1 resolved'],
    open: 1,
    incidents: 1,
  },
  {
    name: 'a member that fired and cleared is no news',
    events: [
      [0, ['fired', host('checkout', 'foo', 0)]],
      [2, ['fired', host('checkout', 'bar', 2)]],
      [3, ['resolved', host('checkout', 'bar', 2)]],
    ],
    until: 120,
    said: ['1/1 opened'],
    open: 1,
    incidents: 1,
  },
  {
    name: 'cleared before it was ever announced',
    settings: { openAfter: ms(2 * MINUTE) },
    events: [
      [0, ['fired', A]],
      [1, ['resolved', A]],
    ],
    until: 10,
    said: [],
    open: 0,
    incidents: 1,
  },
  {
    name: 'a snooze outlives flaps, an end in between included',
    events: [
      [0, ['fired', A]],
      [1, { kind: 'snooze', by: 'ada', note: null, until: minuteOf(61) }],
      [5, ['resolved', A]],
      [13, ['fired', again(13)]],
      [17, ['resolved', again(13)]],
      [20, ['fired', again(20)]],
    ],
    until: 62,
    said: ['1/1 opened', '1/1 resolved', '1/2 unmuted'],
    open: 1,
    incidents: 1,
  },
  {
    name: 'a late acknowledge does not undo a resolve',
    events: [
      [0, ['fired', A]],
      [4, ['resolved', A]],
      [10, ack],
    ],
    until: 15,
    said: ['1/1 opened', '1/1 resolved'],
    open: 0,
    incidents: 1,
  },
  {
    name: 'a new alert long after a human resolve is a new incident',
    events: [
      [0, ['fired', host('checkout', 'h1', 0)]],
      [5, resolve],
      [6, ['resolved', host('checkout', 'h1', 0)]],
      [30, ['fired', alertOf('DiskFull', CHECKOUT, { since: 30 })]],
    ],
    until: 31,
    said: ['1/1 opened', '1/1 resolved', '2/1 opened'],
    open: 1,
    incidents: 2,
  },
  {
    name: 'one member clears, the incident stays; the last one closes it once',
    events: [
      [0, ['fired', host('checkout', 'elastic', 0)], ['fired', host('checkout', 'cassandra', 0)]],
      [5, ['resolved', host('checkout', 'elastic', 0)]],
      [20, ['resolved', host('checkout', 'cassandra', 0)]],
    ],
    until: 40,
    said: ['1/1 opened', '1/1 resolved'],
    open: 0,
    incidents: 1,
  },
  {
    name: 'four burn tiers of one SLO are one page',
    events: [
      [0, ['fired', burning('50h', 'page')]],
      [10, ['changed', burning('50h', 'page')]],
      [150, ['changed', burning('50h', 'ticket')]],
      [1440, ['changed', burning('50h', 'ticket')]],
      [1500, ['resolved', burning('50h', 'ticket')]],
    ],
    until: 1510,
    said: ['1/1 opened', '1/1 deescalated', '1/1 resolved'],
    open: 0,
    incidents: 1,
  },
  {
    name: 'acknowledged and forgotten pages again when the acknowledgement lapses',
    settings: { ackLapse: ms(240 * MINUTE) },
    events: [
      [0, ['fired', A]],
      [2, ack],
    ],
    until: 243,
    said: ['1/1 opened', '1/1 ack_lapsed'],
    open: 1,
    incidents: 1,
  },
  {
    name: 'ejections, errors and latency of one cluster are one page, another cluster is apart',
    events: [
      [0, ['fired', host('c1', 'h7', 0)]],
      [0.4, ['fired', pageOf({ cluster: 'c1' }, { since: 0.4 })]],
      [0.7, ['fired', host('c1', 'h9', 0.7)]],
      [1.5, ['fired', alertOf('P99High', { cluster: 'c1' }, { since: 1.5 })]],
      [1.7, ['fired', host('c2', 'k2', 1.7)]],
    ],
    until: 10,
    said: ['1/1 opened', '1/1 escalated', '2/1 opened'],
    open: 2,
    incidents: 2,
  },
  {
    name: 'two places that fail at once without a link are two incidents',
    events: [[0, ['fired', pageOf()], ['fired', pageOf({ cluster: 'search' })]]],
    until: 1,
    said: ['1/1 opened', '2/1 opened'],
    open: 2,
    incidents: 2,
  },
];

function play({ settings = {}, events, until }: Scenario): Scene {
  const scene = new Scene({ ...SETTINGS, ...settings });
  let played = 0;
  for (const [minute, ...steps] of events) {
    scene.ticks(Math.floor(played) + 1, Math.ceil(minute) - 1);
    played = minute;
    const alerts: Step[] = [];
    for (const step of steps) {
      if (step === 'restart') scene.restart();
      else if ('kind' in step) scene.act(minute, step);
      else alerts.push(step);
    }
    scene.at(minute, ...alerts);
  }
  return scene.ticks(Math.floor(played) + 1, until);
}

describe('situations with a known right answer', () => {
  for (const scenario of SCENARIOS) {
    test(scenario.name, () => {
      const scene = play(scenario);
      assert.deepEqual(scene.said, scenario.said);
      assert.equal(scene.open.length, scenario.open);
      assert.equal(scene.stored.size, scenario.incidents);
    });
  }
});
