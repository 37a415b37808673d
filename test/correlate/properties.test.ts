import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ms } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import { reachOf, relationOf } from '../../src/correlate/relation.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { Incident } from '../../src/model/incident.ts';
import { type AlertFields, alertOf, MINUTE, SETTINGS } from '../support/alerts.ts';
import { changeOf, minuteOf, pageOf, Scene, type Step } from './scene.ts';

const PLACES = ['checkout', 'search'].flatMap((cluster) => [
  { cluster },
  { cluster, zone: 'a' },
  { cluster, zone: 'b' },
]);
const KINDS: readonly ((place: object, fields: AlertFields) => Alert)[] = [
  (place, { since = 0, severity = 'page' }) => pageOf(place, { since, severity }),
  (place, fields) => alertOf('HostEjections', place, { ...fields, severity: 'ticket' }),
  (place, fields) => alertOf('UpstreamErrors', place, { ...fields, severity: 'ticket' }),
  (place, fields) => alertOf('DiskFull', place, fields),
];

/** What an alert does in a minute; what does not fit its state is left out when it is played. */
interface Move {
  readonly which: number;
  readonly page: boolean;
  readonly ends: boolean;
}
const move: fc.Arbitrary<Move> = fc.record({
  which: fc.nat(KINDS.length * PLACES.length - 1),
  page: fc.boolean(),
  ends: fc.boolean(),
});
const history = fc.array(fc.array(move, { maxLength: 5 }), { minLength: 1, maxLength: 40 });

/** Turns moves into changes that an alerting part could make: it fires, changes severity, ends. */
function createPlayer(): (moves: readonly Move[], minute: number) => Step[] {
  const firing = new Map<number, Alert>();
  return (moves, minute) => {
    const steps: Step[] = [];
    for (const { which, page, ends } of new Map(moves.map((one) => [one.which, one])).values()) {
      const known = firing.get(which);
      const kind = KINDS[which % KINDS.length];
      const place = PLACES[Math.floor(which / KINDS.length)];
      if (kind === undefined || place === undefined) continue;
      const fields: AlertFields = { severity: page ? 'page' : 'ticket' };
      if (known === undefined) {
        const alert = kind(place, { ...fields, since: minute });
        firing.set(which, alert);
        steps.push(['fired', alert]);
      } else if (ends) {
        firing.delete(which);
        steps.push(['resolved', known]);
      } else {
        const alert = { ...kind(place, fields), since: known.since };
        firing.set(which, alert);
        steps.push(['changed', alert]);
      }
    }
    return steps;
  };
}

const PACE = 3;

/** Plays a history, then ends everything and waits until all is over. */
function playOut(scene: Scene, moves: readonly (readonly Move[])[], each: () => void = () => undefined): void {
  const player = createPlayer();
  moves.forEach((tick, index) => {
    scene.at(index * PACE, ...player(tick, index * PACE));
    each();
  });
  const end = moves.length * PACE;
  const all = Array.from({ length: KINDS.length * PLACES.length }, (_, which) => ({ which, page: true, ends: true }));
  const last = player(all, end).filter(([kind]) => kind === 'resolved');
  scene.at(end, ...last);
  scene.ticks(end + 1, end + 12);
}

const stateOf = (scene: Scene): string =>
  JSON.stringify([scene.changes, scene.notifications, scene.correlator.incidents()], (_, value: unknown) =>
    value instanceof Map ? [...value] : value,
  );

describe('whatever happens', () => {
  test('the order of the changes of a tick decides nothing, not even the last figure', () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (moves, randoms) => {
        const [one, other] = [new Scene(), new Scene()];
        const [player, twin] = [createPlayer(), createPlayer()];
        moves.forEach((tick, index) => {
          const shuffled = twin(tick, index * PACE)
            .map((step) => [randoms.next().value as number, step] as const)
            .sort(([a], [b]) => a - b);
          one.at(index * PACE, ...player(tick, index * PACE));
          other.at(index * PACE, ...shuffled.map(([, step]) => step));
        });
        assert.equal(stateOf(other), stateOf(one));
      }),
      { seed: 11, numRuns: 200 },
    );
  });

  test('several changes of one alert in one tick come to the same, however they arrive', () => {
    const now = minuteOf(10);
    const began = pageOf({ cluster: 'checkout' }, { since: 9 });
    const changes: AlertChange[] = [
      changeOf(['resolved', pageOf()], now),
      changeOf(['fired', began], now),
      changeOf(['changed', { ...began, tier: '6h' }], now),
      changeOf(['updated', { ...began, tier: '6h', summary: 'newest' }], now),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(changes, { minLength: changes.length }), (shuffled) => {
        const correlator = createCorrelator(SETTINGS);
        correlator.correlate([changeOf(['fired', pageOf()], minuteOf(0))], minuteOf(0));
        correlator.correlate(shuffled, now);
        const [member] = correlator.incidents()[0]?.members ?? [];
        assert.deepEqual([member?.state, member?.alert.summary], ['firing', 'newest']);
      }),
      { seed: 12, numRuns: 24 },
    );
  });

  test('in the end all is resolved, once in each episode, and what was said is closed exactly once', () => {
    fc.assert(
      fc.property(history, (moves) => {
        const scene = new Scene();
        playOut(scene, moves);
        assert.deepEqual(scene.open, []);
        const lives = new Map<string, number>();
        for (const { incident, episode, change } of scene.changes) {
          if (change === 'resolved')
            lives.set(`${incident}/${episode}`, (lives.get(`${incident}/${episode}`) ?? 0) + 1);
        }
        assert.ok([...lives.values()].every((times) => times === 1));
        const told = groupBySaid(scene.said);
        for (const [life, reasons] of told) {
          assert.equal(reasons.filter((reason) => reason === 'resolved').length, 1, `${life}: ${reasons.join()}`);
          assert.equal(reasons.at(-1), 'resolved', life);
        }
      }),
      { seed: 13, numRuns: 300 },
    );
  });

  test('a firing alert is in exactly one incident, one that is not resolved', () => {
    fc.assert(
      fc.property(history, (moves) => {
        const scene = new Scene();
        playOut(scene, moves, () => {
          const holders = scene.correlator
            .incidents()
            .flatMap(({ state, members }) =>
              members.filter((member) => member.state === 'firing').map(({ alert }) => [alert.key, state] as const),
            );
          assert.equal(new Set(holders.map(([key]) => key)).size, holders.length);
          assert.ok(holders.every(([, state]) => state !== 'resolved'));
        });
      }),
      { seed: 14, numRuns: 200 },
    );
  });

  test('timelines count without gaps, and at most one thing is said of an incident in a tick', () => {
    fc.assert(
      fc.property(history, (moves) => {
        const scene = new Scene();
        playOut(scene, moves);
        const seqs = new Map<number, number[]>();
        for (const { incident, seq } of [
          ...scene.changes,
          ...scene.notifications.map(({ incident: { id }, seq }) => ({ incident: id, seq })),
        ]) {
          seqs.set(incident, [...(seqs.get(incident) ?? []), seq]);
        }
        for (const found of seqs.values()) {
          assert.deepEqual(
            found.sort((a, b) => a - b),
            found.map((_, index) => index + 1),
          );
        }
        const moments = scene.notifications.map(({ incident: { id }, at }) => `${id} ${at}`);
        assert.equal(new Set(moments).size, moments.length);
      }),
      { seed: 15, numRuns: 200 },
    );
  });

  test('a process that restarts after any tick says and does the same', () => {
    fc.assert(
      fc.property(history, fc.nat(39), (moves, when) => {
        const [one, other] = [new Scene(), new Scene()];
        let tick = 0;
        playOut(one, moves);
        playOut(other, moves, () => {
          if (tick === when) other.restart();
          tick += 1;
        });
        assert.deepEqual(other.said, one.said);
        assert.deepEqual(other.timeline, one.timeline);
      }),
      { seed: 16, numRuns: 200 },
    );
  });

  test('an alert relates only to alerts that are within its reach', () => {
    const scopes = ['cluster', 'zone', 'service', 'host', 'balancer', 'region', 'all'] as const;
    const names = ['ErrorBudgetBurn', 'TelemetryLost', 'A', 'B', 'C'];
    const value = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });
    const place = fc.record({ cluster: value, zone: value, service: value, host: value }, { requiredKeys: [] });
    const alert = fc.tuple(fc.constantFrom(...names), place, fc.nat(20)).map(([name, { ...where }, since]) => {
      const known = Object.fromEntries(Object.entries(where).filter(([, part]) => part !== undefined));
      return alertOf(name, known, { since });
    });
    const edge = fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...names), fc.constantFrom(...scopes))
      .map(([cause, effect, scope]) => ({ cause, effect, scope, within: ms(10 * MINUTE) }));
    fc.assert(
      fc.property(alert, alert, fc.array(edge, { maxLength: 4 }), (one, other, causes) => {
        const settings = { ...SETTINGS, causes };
        const member = { alert: other, state: 'firing', joinedAt: other.since, resolvedAt: null, reason: '' } as const;
        if (relationOf(one, member, settings) === null) return;
        const reach = reachOf(one, settings);
        if (reach === null || reach.kinds.has(other.name)) return;
        assert.ok([...reach.parts].some((part) => (one.place[part] ?? 0) === (other.place[part] ?? 1)));
      }),
      { seed: 18, numRuns: 5000 },
    );
  });

  test('nobody is told of a held incident, and its timeline starts with its opening', () => {
    fc.assert(
      fc.property(history, (moves) => {
        const scene = new Scene({ openAfter: ms(4 * MINUTE), minAlerts: 2 });
        playOut(scene, moves);
        const started = new Set<number>();
        for (const { incident, change, members } of scene.changes) {
          if (change === 'opened') {
            started.add(incident);
            assert.ok(members >= 2);
          }
          assert.ok(started.has(incident), `${incident} ${change}`);
        }
        assert.ok(scene.notifications.every(({ incident }: { incident: Incident }) => started.has(incident.id)));
        assert.deepEqual(scene.open, []);
      }),
      { seed: 17, numRuns: 200 },
    );
  });
});

function groupBySaid(said: readonly string[]): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const line of said) {
    const [life = '', reason = ''] = line.split(' ');
    groups.set(life, [...(groups.get(life) ?? []), reason]);
  }
  return groups;
}
