import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ms } from '../../src/base/units.ts';
import type { InhibitRule } from '../../src/correlate/inhibit.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { Silence } from '../../src/model/mute.ts';
import { alertOf, MINUTE } from '../support/alerts.ts';
import { inhibitOf, muteBookOf, silenceOf } from '../support/mutes.ts';
import { CHECKOUT, minuteOf, pageOf, Scene } from './scene.ts';

const down = (since = 0, instance = 'a'): Alert =>
  alertOf('ClusterDown', { cluster: 'c1', host: instance }, { severity: 'page', since });
const instance = (since = 0, host = 'h1', severity: 'page' | 'ticket' = 'page', cluster = 'c1'): Alert =>
  alertOf('InstanceDown', { cluster, host }, { severity, since });

const scene = (silences: readonly Silence[], inhibit: readonly InhibitRule[] = [], settings = {}): Scene => {
  const made = new Scene(settings);
  made.mutes = muteBookOf({ silences, inhibit });
  return made;
};
const muteLines = (played: Scene): string[] =>
  played.changes
    .filter(({ change }) => change === 'muted' || change === 'unmuted')
    .map(({ change, reason }) => `${change} ${reason}`);

describe('a silence', () => {
  test('keeps the page back and leaves the incident as it is; its end says so at the same tick', () => {
    const played = scene([silenceOf('1', 0, 5, 'alertname=InstanceDown')])
      .at(0, ['fired', instance()])
      .ticks(1, 4);
    assert.deepEqual(played.said, []);
    assert.deepEqual(
      played.open.map(({ severity, state }) => [severity, state]),
      [['page', 'open']],
    );
    played.ticks(5, 20);
    assert.deepEqual(played.said, ['1/1 unmuted']);
    assert.deepEqual(at(played), [5]);
  });

  test('is written down once when it begins and once when it ends, with who and until when', () => {
    const played = scene([silenceOf('7', 2, 8, 'host=h1')])
      .at(0, ['fired', instance()])
      .ticks(1, 20);
    assert.deepEqual(muteLines(played), [
      'muted InstanceDown (cluster c1, host h1): silence 7 by ada until 2027-01-15 08:08 UTC (work)',
      'unmuted InstanceDown (cluster c1, host h1): no longer silence 7 by ada until 2027-01-15 08:08 UTC (work)',
    ]);
    // It was told of before, and went on all the time: no news.
    assert.deepEqual(played.said, ['1/1 opened']);
  });

  test('of one host leaves its neighbour audible: the incident speaks about that one', () => {
    const quiet = instance(0, 'h1', 'page');
    const loud = instance(1, 'h2', 'ticket');
    const played = scene([silenceOf('1', 0, 60, 'host=h1')])
      .at(0, ['fired', quiet])
      .at(1, ['fired', loud])
      .ticks(2, 9);
    assert.deepEqual(played.said, ['1/1 opened']);
    assert.equal(played.notifications[0]?.severity, 'ticket', 'what is muted does not page');
    assert.equal(played.open[0]?.severity, 'page', 'the incident is what it is');
  });

  test('two of them: muted until the last one ends', () => {
    const silences = [silenceOf('1', 0, 5, 'host=h1'), silenceOf('2', 0, 9, 'cluster=c1')];
    const played = scene(silences).at(0, ['fired', instance()]).ticks(1, 20);
    assert.deepEqual(at(played), [9]);
    assert.match(muteLines(played)[2] ?? '', /^unmuted .* no longer silence 1 .*, but silence 2 by ada/);
    assert.equal(muteLines(played).length, 4);
  });

  test('that begins after the page and outlasts the alert: it is closed once, at its time', () => {
    const played = scene([silenceOf('1', 3, 63, 'host=h1')])
      .at(0, ['fired', instance()])
      .ticks(1, 19)
      .at(20, ['resolved', instance()])
      .ticks(21, 70);
    assert.deepEqual(played.said, ['1/1 opened', '1/1 resolved']);
    assert.deepEqual(at(played), [0, 25]);
  });

  test('under which all came and went leaves history and says nothing', () => {
    const played = scene([silenceOf('1', 0, 60, 'host=h1')])
      .at(0, ['fired', instance()])
      .at(5, ['resolved', instance()])
      .ticks(6, 70);
    assert.deepEqual(played.said, []);
    assert.deepEqual(played.timeline, ['1 opened', '1 muted', '1 left', '1 resolved']);
  });

  test('survives flaps, is written down once over them, and what came back under it is told at its end', () => {
    const played = scene([silenceOf('1', 1, 61, 'alertname=InstanceDown')])
      .at(0, ['fired', instance()])
      .ticks(1, 4)
      .at(5, ['resolved', instance()])
      .at(8, ['fired', instance(8)])
      .at(12, ['resolved', instance(8)])
      .at(15, ['fired', instance(15)])
      .ticks(16, 62);
    assert.deepEqual(played.said, ['1/1 opened', '1/1 unmuted']);
    assert.deepEqual(at(played), [0, 61]);
    assert.equal(muteLines(played).length, 2);
  });

  test('keeps back a rise, a new failure domain and a lapse, and tells what is left of them when it ends', () => {
    const ticket = pageOf({ cluster: 'checkout', zone: 'a' }, { severity: 'ticket' });
    const page = pageOf({ cluster: 'checkout', zone: 'a' });
    const risen = scene([silenceOf('1', 1, 30, 'zone=a')])
      .at(0, ['fired', ticket])
      .at(5, ['changed', page])
      .ticks(6, 40);
    assert.deepEqual(risen.said, ['1/1 opened', '1/1 escalated']);
    assert.deepEqual(at(risen), [0, 30]);

    const other = pageOf({ cluster: 'checkout', zone: 'b' }, { since: 5 });
    const spread = scene([silenceOf('1', 1, 30, 'zone=b')])
      .at(0, ['fired', page])
      .at(5, ['fired', other])
      .ticks(6, 40);
    assert.deepEqual(spread.said, ['1/1 opened', '1/1 unmuted']);
    assert.deepEqual(at(spread), [0, 30]);

    const lapsed = scene([silenceOf('1', 10, 90, 'zone=a')]).at(0, ['fired', page]);
    lapsed.act(1, { kind: 'acknowledge', by: 'ada', note: null, until: null });
    lapsed.ticks(2, 100);
    assert.deepEqual(lapsed.said, ['1/1 opened', '1/1 unmuted']);
    assert.deepEqual(at(lapsed), [0, 90]);
    assert.ok(lapsed.timeline.includes('1 ack_lapsed'), 'the acknowledgement lapses when it does');
  });

  test('does not keep back that a page has fallen, which closes it at those who take pages only', () => {
    const page = instance(0, 'h1');
    const ticket = instance(0, 'h2', 'ticket');
    const played = scene([silenceOf('1', 1, 60, 'cluster=c1')])
      .at(0, ['fired', page], ['fired', ticket])
      .at(5, ['resolved', page])
      .ticks(6, 20);
    assert.deepEqual(played.said, ['1/1 opened', '1/1 deescalated']);
  });

  test('of a page leaves it announced as a page while a ticket of the incident is told of', () => {
    const page = instance(0, 'h1');
    const ticket = instance(2, 'h2', 'ticket');
    const played = scene([silenceOf('1', 1, 20, 'host=h1'), silenceOf('2', 1, 10, 'host=h2')])
      .at(0, ['fired', page])
      .at(2, ['fired', ticket])
      .ticks(3, 30);
    assert.deepEqual(played.said, ['1/1 opened', '1/1 unmuted'], 'the ticket; the page goes on as it was told');
    assert.equal(played.notifications[1]?.severity, 'ticket');
  });

  test('is counted from the opening where the incident is held first', () => {
    const played = scene([silenceOf('1', 0, 9, 'host=h1')], [], { openAfter: ms(4 * MINUTE) })
      .at(0, ['fired', instance()])
      .ticks(1, 10);
    assert.deepEqual(played.timeline, ['1 opened', '1 muted', '1 unmuted']);
    assert.deepEqual(at(played), [9]);
  });

  test('names three of many alerts', () => {
    const played = scene([silenceOf('1', 0, 9, 'cluster=c1')]);
    played.at(0, ...['a', 'b', 'c', 'd', 'e'].map((host) => ['fired', instance(0, host)] as const));
    assert.deepEqual(muteLines(played).length, 1);
    assert.match(muteLines(played)[0] ?? '', /host a\), .*host b\), .*host c\) and 2 more: silence 1/);
  });
});

test('what a message could not say has not been said: a zone that was muted then is news when it is heard', () => {
  const zone = (name: string, since = 0): Alert => pageOf({ cluster: 'checkout', zone: name }, { since });
  const other = alertOf('DiskFull', { cluster: 'checkout', zone: 'b' }, { severity: 'page', since: 3 });
  const played = scene([silenceOf('1', 0, 60, 'alertname=ErrorBudgetBurn', 'zone=b')])
    .at(0, ['fired', zone('a')], ['fired', zone('b')])
    .at(3, ['fired', other])
    .ticks(4, 6);
  assert.deepEqual(played.said, ['1/1 opened', '1/1 new_failure_domain']);
});

test('a mute that ended while its incident was resolved by hand is no end of one in the next episode', () => {
  const played = scene([silenceOf('1', 0, 10, 'host=h1')])
    .at(0, ['fired', instance()])
    .ticks(1, 4);
  played.act(5, { kind: 'resolve', by: 'ada', note: null });
  played.ticks(6, 15);
  played.act(16, { kind: 'reopen', by: 'ada', note: null });
  played.ticks(16, 18);
  assert.deepEqual(muteLines(played).length, 1);
  assert.deepEqual(played.said, ['1/2 opened']);
});

describe('an inhibition', () => {
  const rule = inhibitOf('alertname=ClusterDown', 'alertname=InstanceDown', 'cluster');

  test('holds as long as any source fires', () => {
    const played = scene([], [rule])
      .at(0, ['fired', down(0, 'a')])
      .at(1, ['fired', down(1, 'b')])
      .at(2, ['fired', instance(2)])
      .ticks(3, 9)
      .at(10, ['resolved', down(0, 'a')])
      .ticks(11, 59)
      .at(60, ['resolved', down(1, 'b')])
      .ticks(61, 65);
    assert.deepEqual(at(played), [0, 60]);
    assert.deepEqual(played.said, ['1/1 opened', '1/1 unmuted']);
    assert.deepEqual(muteLines(played), [
      'muted InstanceDown (cluster c1, host h1): inhibition by ClusterDown (cluster c1, host a)',
      'muted InstanceDown (cluster c1, host h1): inhibition by ClusterDown (cluster c1, host b)',
      'unmuted InstanceDown (cluster c1, host h1): no longer inhibition by ClusterDown (cluster c1, host a), but inhibition by ClusterDown (cluster c1, host b)',
      'unmuted InstanceDown (cluster c1, host h1): no longer inhibition by ClusterDown (cluster c1, host b)',
    ]);
  });

  test('an older source that comes late changes nothing about who is named', () => {
    const played = scene([], [rule])
      .at(5, ['fired', down(5, 'b')], ['fired', instance(5)])
      .at(6, ['fired', down(0, 'a')])
      .ticks(7, 9);
    assert.equal(muteLines(played).length, 1);
  });

  test('reaches only what agrees in the labels that must be equal; what both lack is equal', () => {
    const elsewhere = scene([], [rule]).at(0, ['fired', down()], ['fired', instance(0, 'h1', 'page', 'c2')]);
    assert.deepEqual(muteLines(elsewhere), []);
    const byRegion = inhibitOf('alertname=ClusterDown', 'alertname=InstanceDown', 'region');
    const lacking = scene([], [byRegion]).at(0, ['fired', down()], ['fired', instance(0, 'h1', 'page', 'c2')]);
    assert.equal(muteLines(lacking).length, 1);
  });

  test('no alert inhibits itself, and two that match both sides do not silence each other', () => {
    const all = inhibitOf('severity=page', 'cluster=c1', 'cluster');
    const played = scene([], [all]).at(0, ['fired', down(0, 'a')], ['fired', down(0, 'b')]);
    assert.deepEqual(muteLines(played), []);
    assert.deepEqual(played.said, ['1/1 opened']);
    // A ticket is no source, so it is inhibited.
    played.at(1, ['fired', instance(1, 'h1', 'ticket')]);
    assert.equal(muteLines(played).length, 1);
  });

  test('a source that is inhibited or silenced itself still inhibits', () => {
    const chain = [rule, inhibitOf('alertname=RegionDown', 'alertname=ClusterDown')];
    const region = alertOf('RegionDown', { region: 'r' }, { severity: 'page' });
    const played = scene([silenceOf('1', 0, 60, 'alertname=RegionDown')], chain)
      .at(0, ['fired', region], ['fired', down()], ['fired', instance()])
      .ticks(1, 20);
    assert.deepEqual(played.said, []);
    assert.equal(muteLines(played).length, 3);
  });

  test('in the tick in which source and target come, whatever their order', () => {
    for (const steps of [
      [down(0), instance(0)],
      [instance(0), down(0)],
    ]) {
      const played = scene([], [rule]).at(0, ...steps.map((alert) => ['fired', alert] as const));
      assert.deepEqual(played.said, ['1/1 opened']);
      assert.equal(muteLines(played).length, 1);
    }
  });

  test('what was told of, then inhibited, then cleared is closed like anything else', () => {
    const one = alertOf('One', {}, { severity: 'page' });
    const two = alertOf('Two', {}, { severity: 'page', since: 2 });
    const played = scene([], [inhibitOf('alertname=Two', 'alertname=One')])
      .at(0, ['fired', one])
      .at(2, ['fired', two])
      .at(5, ['resolved', one])
      .at(10, ['resolved', two])
      .ticks(11, 20);
    assert.deepEqual(played.said, ['1/1 opened', '2/1 opened', '1/1 resolved', '2/1 resolved']);
  });

  test('after a restart what was muted is muted still, and told of once', () => {
    const played = scene([], [rule])
      .at(0, ['fired', down()], ['fired', instance()])
      .restart()
      .ticks(1, 5)
      .at(6, ['resolved', down()])
      .restart()
      .ticks(7, 9);
    assert.deepEqual(played.said, ['1/1 opened', '1/1 unmuted']);
    assert.equal(muteLines(played).length, 2);
  });
});

test('a snooze that ends under a silence is told when that ends too', () => {
  const page = pageOf(CHECKOUT);
  const played = scene([silenceOf('1', 5, 40, 'cluster=checkout')]).at(0, ['fired', page]);
  played.act(2, { kind: 'snooze', by: 'ada', note: null, until: minuteOf(20) });
  played.ticks(3, 50);
  assert.deepEqual(at(played), [0, 40]);
});

/** Minutes at which something was said. */
function at(played: Scene): number[] {
  return played.notifications.map((said) => (said.at - minuteOf(0)) / MINUTE);
}
