import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ForeignScene, sent } from '../support/foreign.ts';

const LABELS = { alertname: 'DiskFull', cluster: 'checkout', severity: 'critical' };

interface Message {
  readonly arrives: number;
  readonly alert: object;
}

/** What one of a pair of Prometheus servers sends of a condition that holds over [from, to), in seconds. */
interface Sender {
  readonly replica: string;
  /** When it evaluates within its interval. */
  readonly offset: number;
  /** How long each message takes, in turn. */
  readonly delays: readonly number[];
  /** Whether each message is lost, in turn. */
  readonly lost: readonly boolean[];
}

function messagesOf(sender: Sender, interval: number, from: number, to: number): Message[] {
  const messages: Message[] = [];
  const labels = { ...LABELS, replica: sender.replica };
  let startsAt: number | null = null;
  let resolvedAt: number | null = null;
  for (let at = sender.offset, turn = 0; at < to + 900; at += interval, turn += 1) {
    if (at < from) continue;
    const isBad = at < to;
    if (isBad) startsAt ??= at;
    else if (startsAt !== null) resolvedAt ??= at;
    if (startsAt === null) continue;
    const arrives = at + (sender.delays[turn % sender.delays.length] ?? 0);
    if (sender.lost[turn % sender.lost.length] === true) continue;
    messages.push({
      arrives,
      alert: sent(labels, { startsAt, endsAt: resolvedAt ?? at + 4 * Math.max(interval, 60) }),
    });
  }
  return messages;
}

const senderOf = (replica: string, interval: number): fc.Arbitrary<Sender> =>
  fc.record({
    replica: fc.constant(replica),
    offset: fc.integer({ min: 0, max: interval - 1 }),
    delays: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 7 }),
    // At most two of three are lost, never the whole way from one end to the next.
    lost: fc.constantFrom([false], [false, false, true], [true, false], [false, true, false, false]),
  });

const plot = fc.constantFrom(15, 60, 120, 300).chain((interval) =>
  fc.record({
    interval: fc.constant(interval),
    senders: fc.tuple(senderOf('a', interval), senderOf('b', interval)),
    from: fc.integer({ min: 0, max: 600 }),
    lasts: fc.integer({ min: 2 * interval, max: 3600 }),
    shuffle: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
  }),
);

/** The same messages, those of one tick in another order. */
function shuffled(messages: readonly Message[], keys: readonly number[]): Message[] {
  const tickOf = ({ arrives }: Message): number => Math.ceil(arrives / 10);
  const key = new Map(messages.map((message, index) => [message, keys[index % keys.length] ?? 0]));
  return [...messages].sort((a, b) => tickOf(a) - tickOf(b) || (key.get(a) ?? 0) - (key.get(b) ?? 0));
}

/** Runs the messages; a restart in between where asked for. */
function run(messages: readonly Message[], until: number, restartAt?: number): ForeignScene {
  const scene = new ForeignScene();
  let hasRestarted = restartAt === undefined;
  for (const { arrives, alert } of messages) {
    if (!hasRestarted && arrives >= (restartAt ?? 0)) {
      scene.to(restartAt ?? 0).restart();
      hasRestarted = true;
    }
    scene.receive(arrives, [alert]);
  }
  return scene.to(until);
}

test('whatever way the messages of two senders mix, one condition is one incident with one page and one end', () => {
  fc.assert(
    fc.property(plot, ({ interval, senders, from, lasts, shuffle }) => {
      const to = from + lasts;
      const messages = senders
        .flatMap((sender) => messagesOf(sender, interval, from, to))
        .sort((a, b) => a.arrives - b.arrives);
      const until = to + 4 * Math.max(interval, 60) + 2400;
      for (const order of [messages, shuffled(messages, shuffle)]) {
        const scene = run(order, until);
        assert.deepEqual(
          scene.told.map((line) => line.split(' ')[1]),
          ['fired', 'resolved'],
        );
        assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
      }
      const restarted = run(messages, until, from + lasts / 2);
      assert.deepEqual(restarted.said, ['1/1 opened', '1/1 resolved']);
    }),
    { numRuns: 300 },
  );
});

test('the order of messages within one tick decides nothing about starts and ends', () => {
  fc.assert(
    fc.property(plot, ({ interval, senders, from, lasts, shuffle }) => {
      const messages = senders
        .flatMap((sender) => messagesOf(sender, interval, from, from + lasts))
        .sort((a, b) => a.arrives - b.arrives);
      const until = from + lasts + 3600;
      const view = (scene: ForeignScene) =>
        scene.alerts.filter(({ kind }) => kind !== 'updated').map(({ at, kind }) => `${at} ${kind}`);
      assert.deepEqual(view(run(messages, until)), view(run(shuffled(messages, shuffle), until)));
    }),
    { numRuns: 200 },
  );
});
