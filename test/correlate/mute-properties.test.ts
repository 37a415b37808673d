import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { firingAlerts } from '../../src/correlate/draft.ts';
import type { Alert } from '../../src/model/alert.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { alertOf } from '../support/alerts.ts';
import { inhibitOf, muteBookOf, silenceOf } from '../support/mutes.ts';
import { pageOf, Scene, type Step } from './scene.ts';

const CLUSTERS = ['checkout', 'search'] as const;
const ALERTS: readonly ((severity: 'page' | 'ticket', since: number) => Alert)[] = CLUSTERS.flatMap((cluster) =>
  ['a', 'b'].flatMap((zone) => [
    (severity: 'page' | 'ticket', since: number) => pageOf({ cluster, zone }, { severity, since }),
    (severity: 'page' | 'ticket', since: number) => alertOf('DiskFull', { cluster, zone }, { severity, since }),
    (_: 'page' | 'ticket', since: number) => alertOf('HostEjections', { cluster, zone }, { severity: 'ticket', since }),
  ]),
);

const move = fc.record({ which: fc.nat(ALERTS.length - 1), page: fc.boolean(), ends: fc.boolean() });
const history = fc.array(fc.array(move, { maxLength: 4 }), { minLength: 1, maxLength: 30 });
const MATCHERS = [
  'alertname=DiskFull',
  'alertname=ErrorBudgetBurn',
  'zone=a',
  'cluster=search',
  'severity=page',
  'alertname=~".+"',
];
const silences = fc.array(fc.tuple(fc.constantFrom(...MATCHERS), fc.nat(90), fc.integer({ min: 1, max: 60 })), {
  maxLength: 6,
});
const RULES = [
  inhibitOf('alertname=HostEjections', 'alertname=DiskFull', 'cluster'),
  inhibitOf('severity=page', 'severity=ticket', 'zone'),
  inhibitOf('alertname=ErrorBudgetBurn', 'cluster=search', 'cluster'),
];
const rules = fc.subarray(RULES);
const mutes = fc.record({ silences, rules });
type Mutes = typeof mutes extends fc.Arbitrary<infer T> ? T : never;
type Moves = typeof history extends fc.Arbitrary<infer T> ? T : never;

const PACE = 3;

function sceneOf({ silences: drawn, rules: inhibit }: Mutes): Scene {
  const scene = new Scene();
  scene.mutes = muteBookOf({
    inhibit,
    silences: drawn.map(([matcher, from, minutes], index) => silenceOf(String(index), from, from + minutes, matcher)),
  });
  return scene;
}

/** Turns moves into changes that an alerting part could make. */
function stepsOf(firing: Map<number, Alert>, moves: Moves[number], minute: number): Step[] {
  const steps: Step[] = [];
  for (const { which, page, ends } of new Map(moves.map((one) => [one.which, one])).values()) {
    const known = firing.get(which);
    const make = ALERTS[which];
    if (make === undefined) continue;
    if (known !== undefined && ends) {
      firing.delete(which);
      steps.push(['resolved', known]);
      continue;
    }
    const alert = { ...make(page ? 'page' : 'ticket', minute), since: known?.since ?? make('page', minute).since };
    firing.set(which, alert);
    steps.push([known === undefined ? 'fired' : 'changed', alert]);
  }
  return steps;
}

/** Plays a history minute by minute, then ends everything and waits until all is over. */
function playOut(
  scene: Scene,
  moves: Moves,
  each: (tick: number) => void = () => undefined,
  turn = (steps: Step[]) => steps,
): Scene {
  const firing = new Map<number, Alert>();
  moves.forEach((tick, index) => {
    const minute = index * PACE;
    scene.at(minute, ...turn(stepsOf(firing, tick, minute)));
    each(index);
    scene.ticks(minute + 1, minute + PACE - 1);
  });
  const end = moves.length * PACE;
  scene.at(end, ...[...firing.values()].map((alert): Step => ['resolved', alert]));
  return scene.ticks(end + 1, end + 12);
}

/** What incidents went through, without what mutes add to it. */
const lifeOf = (scene: Scene): string[] =>
  scene.changes
    .filter(({ change }) => change !== 'muted' && change !== 'unmuted')
    .map(
      ({ incident, episode, at, change, reason, after, members }) =>
        `${incident}/${episode} ${at} ${change} ${reason} ${after.severity} ${after.lead} ${after.state} ${members}`,
    );

describe('whatever is muted', () => {
  test('what was opened is closed exactly once in its episode, and nothing is said after that', () => {
    let said = 0;
    fc.assert(
      fc.property(history, mutes, (moves, drawn) => {
        const scene = playOut(sceneOf(drawn), moves);
        assert.deepEqual(scene.open, []);
        const lives = new Set(scene.notifications.map(({ incident }) => `${incident.id}/${incident.episode}`));
        for (const life of lives) {
          const reasons = scene.said.filter((line) => line.startsWith(`${life} `)).map((line) => line.split(' ')[1]);
          assert.equal(reasons.filter((reason) => reason === 'resolved').length, 1, `${life}: ${reasons.join()}`);
          assert.equal(reasons.at(-1), 'resolved', life);
          assert.ok(reasons.length > 1, `${life} is closed but was never opened`);
          said += reasons.length;
        }
      }),
      { seed: 31, numRuns: 400 },
    );
    assert.ok(said > 1000, `${said} messages make this test worth something`);
  });

  test('incidents, their members, severities and lives are what they are without mutes', () => {
    fc.assert(
      fc.property(history, mutes, (moves, drawn) => {
        const [muted, plain] = [playOut(sceneOf(drawn), moves), playOut(new Scene(), moves)];
        assert.deepEqual(lifeOf(muted), lifeOf(plain));
      }),
      { seed: 32, numRuns: 300 },
    );
  });

  test('nothing is said of what is muted, and a message never says more than what is audible', () => {
    fc.assert(
      fc.property(history, mutes, (moves, drawn) => {
        const scene = sceneOf(drawn);
        playOut(scene, moves);
        for (const { incident, reason, severity } of scene.notifications) {
          if (reason === 'resolved' || reason === 'deescalated') continue;
          const audible = incident.members.filter(
            ({ state, mutes: held = [] }) => state === 'firing' && held.length === 0,
          );
          assert.ok(audible.length > 0, reason);
          assert.equal(severity, audible.some(({ alert }) => alert.severity === 'page') ? 'page' : 'ticket');
        }
      }),
      { seed: 33, numRuns: 300 },
    );
  });

  test('a page that fires unmuted is never left untold: its incident was told of as a page', () => {
    fc.assert(
      fc.property(history, mutes, (moves, drawn) => {
        const scene = sceneOf(drawn);
        playOut(scene, moves, () => {
          for (const { members, announced } of scene.open) {
            const heard = members.some(
              ({ alert, state, mutes: held = [] }) =>
                state === 'firing' && held.length === 0 && alert.severity === 'page',
            );
            if (heard) assert.equal(announced.severity, 'page');
          }
        });
      }),
      { seed: 34, numRuns: 300 },
    );
  });

  test('the order of the changes of a tick decides nothing', () => {
    const stateOf = (scene: Scene): string =>
      JSON.stringify([scene.changes, scene.notifications], (_, value: unknown) =>
        value instanceof Map ? [...value] : value,
      );
    fc.assert(
      fc.property(
        history,
        mutes,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (moves, drawn, randoms) => {
          const shuffled = (steps: Step[]): Step[] =>
            steps
              .map((step) => [randoms.next().value as number, step] as const)
              .sort(([a], [b]) => a - b)
              .map(([, step]) => step);
          const one = playOut(sceneOf(drawn), moves);
          const other = playOut(sceneOf(drawn), moves, undefined, shuffled);
          assert.equal(stateOf(other), stateOf(one));
        },
      ),
      { seed: 35, numRuns: 150 },
    );
  });

  test('a process that restarts after any tick says and writes the same', () => {
    fc.assert(
      fc.property(history, mutes, fc.nat(29), (moves, drawn, when) => {
        const one = playOut(sceneOf(drawn), moves);
        const other = sceneOf(drawn);
        playOut(other, moves, (tick) => {
          if (tick === when) other.restart();
        });
        assert.deepEqual(other.said, one.said);
        assert.deepEqual(other.timeline, one.timeline);
      }),
      { seed: 36, numRuns: 200 },
    );
  });

  test('every mute that an incident shows was written down, and ended in writing or with its alert', () => {
    fc.assert(
      fc.property(history, mutes, (moves, drawn) => {
        const scene = sceneOf(drawn);
        playOut(scene, moves, () => {
          for (const incident of scene.open) {
            const lines = scene.changes.filter(
              ({ incident: id, episode }) => id === incident.id && episode === incident.episode,
            );
            for (const { state, mutes: held = [] } of incident.members) {
              if (state !== 'firing' || held.length === 0) continue;
              assert.ok(
                lines.some(({ change }) => change === 'muted'),
                `incident ${incident.id}`,
              );
            }
          }
        });
        const firing = scene.correlator.incidents().flatMap(firingAlerts);
        assert.deepEqual(firing, []);
      }),
      { seed: 37, numRuns: 200 },
    );
  });
});

test('labels of a muted alert are read once for each of its states', () => {
  let reads = 0;
  const plain = alertOf('DiskFull', { cluster: 'c' });
  const counting: Alert = {
    ...plain,
    get labels() {
      reads += 1;
      return labelsOf([]);
    },
  };
  const over = muteBookOf({ silences: [silenceOf('1', 0, 9, 'cluster=c')] }).over([], plain.since);
  for (let tick = 0; tick < 3; tick += 1) assert.equal(over(counting, []).length, 1);
  assert.equal(reads, 1);
});
