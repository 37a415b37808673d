import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import {
  asksForSomething,
  compileSilence,
  expireSilence,
  setSilence,
  silenceMatcherText,
  silenceState,
} from '../../src/correlate/silence.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { parseMatcher } from '../../src/model/matcher.ts';
import { muteLabels, type Silence, type SilenceDraft } from '../../src/model/mute.ts';
import { alertOf } from '../support/alerts.ts';
import { matchersOf, silenceOf } from '../support/mutes.ts';
import { minuteOf } from './scene.ts';

const HELD = silenceOf('old', 0, 60, 'alertname=DiskFull');
const draftOf = (over: Partial<SilenceDraft> = {}): SilenceDraft => {
  const { matchers, startsAt, endsAt, createdBy, comment } = HELD;
  return { matchers, startsAt, endsAt, createdBy, comment, ...over };
};
/** What is stored: id, from and to in minutes. */
const stored = (draft: SilenceDraft, before: Silence | null, minute: number): unknown => {
  const change = setSilence(draft, before, minuteOf(minute), () => 'new');
  if (change.kind === 'bad_field') return change.field;
  const minutes = (at: number): number => (at - minuteOf(0)) / 60_000;
  return [change.id, ...change.put.map(({ id, startsAt, endsAt }) => [id, minutes(startsAt), minutes(endsAt)])];
};

describe('a silence', () => {
  test('is pending until it starts, active up to its end, expired at it', () => {
    assert.deepEqual(
      [-1, 0, 59, 60].map((minute) => silenceState(HELD, minuteOf(minute))),
      ['pending', 'active', 'active', 'expired'],
    );
  });

  test('matches as Alertmanager does: anchored patterns, an absent label is empty, all must match', () => {
    const labels = labelsOf([
      ['zone', 'a'],
      ['host', 'h10'],
    ]);
    const covers = (...texts: string[]): boolean => compileSilence(silenceOf('1', 0, 1, ...texts)).covers(labels);
    assert.equal(covers('host=~"h1"'), false);
    assert.equal(covers('host=~"h1."', 'zone=a'), true);
    assert.equal(covers('host=~"h1.|x"', 'zone!=a'), false);
    assert.equal(covers('zone!~"b|c"'), true);
    assert.equal(covers('team=""'), true);
    assert.equal(covers('team!=""'), false);
  });

  test('with a pattern that cannot be read covers nothing', () => {
    const broken = { ...HELD, matchers: [{ name: 'a', value: '(', isRegex: true, isEqual: false }] };
    assert.equal(compileSilence(broken).covers(labelsOf([['a', 'b']])), false);
  });

  test('has to ask for something', () => {
    const asks = (...texts: string[]): boolean => asksForSomething(matchersOf(...texts));
    assert.deepEqual([asks('a=~".*"'), asks('a=""'), asks('a!=x'), asks()], [false, false, false, false]);
    assert.deepEqual([asks('a=~".+"'), asks('a=~".*"', 'b=x'), asks('a!=""')], [true, true, true]);
  });

  test('sees the place of an alert, its severity and its name; labels that the sender gave come first', () => {
    const own = muteLabels(alertOf('DiskFull', { cluster: 'c', host: 'h' }, { severity: 'page' }));
    assert.deepEqual(Object.fromEntries(own), { alertname: 'DiskFull', cluster: 'c', host: 'h', severity: 'page' });
    const foreign = {
      ...alertOf('X', { cluster: 'from place' }),
      labels: labelsOf([
        ['severity', 'critical'],
        ['cluster', 'own'],
      ]),
    };
    assert.deepEqual(Object.fromEntries(muteLabels(foreign)), { alertname: 'X', cluster: 'own', severity: 'critical' });
  });

  test('is written so that it can be read again', () => {
    for (const text of ['a="b"', 'a!="b"', 'a=~"b|c"', 'a!~"b\\"c"']) {
      const [matcher] = silenceOf('1', 0, 1, text).matchers;
      assert.ok(matcher !== undefined);
      assert.equal(silenceMatcherText(matcher), text);
      assert.equal(parseMatcher(text)?.value, matcher.value);
    }
  });
});

describe('setting a silence', () => {
  test('a new one begins now at the earliest, and must end after it begins and after now', () => {
    assert.deepEqual(stored(draftOf(), null, 10), ['new', ['new', 10, 60]]);
    assert.deepEqual(stored(draftOf(), null, -10), ['new', ['new', 0, 60]]);
    assert.equal(stored(draftOf({ endsAt: minuteOf(0) }), null, -10), 'endsAt');
    assert.equal(stored(draftOf(), null, 60), 'endsAt');
  });

  test('an active one changes end and comment in place', () => {
    assert.deepEqual(stored(draftOf({ endsAt: minuteOf(90), comment: 'longer' }), HELD, 10), ['old', ['old', 0, 90]]);
  });

  test('an active one that would cover more, or begin at another time, ends, and a new one begins', () => {
    const wider = draftOf({ matchers: silenceOf('', 0, 1, 'alertname=~"Disk.*"').matchers });
    assert.deepEqual(stored(wider, HELD, 10), ['new', ['old', 0, 10], ['new', 10, 60]]);
    assert.deepEqual(stored(draftOf({ startsAt: minuteOf(5) }), HELD, 10), ['new', ['old', 0, 10], ['new', 10, 60]]);
  });

  test('a pending one may begin at another time to come; an expired one stays as it was', () => {
    assert.deepEqual(stored(draftOf({ startsAt: minuteOf(5) }), HELD, -10), ['old', ['old', 5, 60]]);
    assert.deepEqual(stored(draftOf({ endsAt: minuteOf(90) }), HELD, 70), ['new', ['new', 70, 90]]);
  });

  test('the order of matchers makes no other silence', () => {
    const two = silenceOf('old', 0, 60, 'a=b', 'c=d');
    const turned = draftOf({ matchers: [...two.matchers].reverse() });
    assert.deepEqual(stored(turned, two, 10), ['old', ['old', 0, 60]]);
  });

  test('ends when it is expired; one that had not begun never was', () => {
    const ended = expireSilence(HELD, minuteOf(10));
    assert.deepEqual([ended.startsAt, ended.endsAt], [minuteOf(0), minuteOf(10)]);
    const never = expireSilence(HELD, minuteOf(-10));
    assert.deepEqual([never.startsAt, never.endsAt], [minuteOf(-10), minuteOf(-10)]);
    assert.equal(silenceState(never, epochMs(minuteOf(-10))), 'expired');
  });
});
