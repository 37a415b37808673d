import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTurns, type Steps } from '../../src/app/turns.ts';

/** Turns on a clock and a loop that the test moves: each step takes a millisecond. */
function createLoop() {
  let at = 0;
  const later: (() => void)[] = [];
  const turns = createTurns(
    () => at,
    (work) => void later.push(work),
  );
  const done: string[] = [];
  const run = (name: string, count: number): Promise<string> =>
    turns.run(
      (function* (): Steps<string> {
        for (let step = 1; step < count; step += 1) {
          at += 1;
          yield;
        }
        at += 1;
        done.push(name);
        return name;
      })(),
    );
  /** One turn of the event loop; how long it took. */
  const turn = (): number => {
    const from = at;
    for (const work of later.splice(0)) work();
    return at - from;
  };
  return { turns, run, turn, done, now: () => at };
}

describe('turns of the event loop', () => {
  test('short work is done at once', async () => {
    const { run, done, turns } = createLoop();
    const first = run('a', 3);
    assert.deepEqual(done, ['a']);
    assert.equal(await first, 'a');
    assert.equal(await turns.runOne(() => 7), 7);
  });

  test('long work takes ten milliseconds of each turn, and what comes later waits for it in order', () => {
    const { run, turn, done, now } = createLoop();
    void run('long', 25);
    void run('b', 1);
    void run('c', 1);
    assert.equal(now(), 10);
    assert.deepEqual(done, []);
    assert.equal(turn(), 10);
    assert.deepEqual(done, []);
    assert.equal(turn(), 7);
    assert.deepEqual(done, ['long', 'b', 'c']);
    assert.equal(turn(), 0);
  });

  test('many short pieces of one turn do not add up past its limit', () => {
    const { run, turn, done, now } = createLoop();
    for (let piece = 0; piece < 25; piece += 1) void run(`${piece}`, 1);
    assert.equal(now(), 10);
    turn();
    turn();
    assert.deepEqual(
      done,
      Array.from({ length: 25 }, (_, piece) => `${piece}`),
    );
  });

  test('what must not see half a request runs at once between requests, and behind the one that is half done', () => {
    const { turns, run, turn, done } = createLoop();
    turns.between(() => done.push('at once'));
    void run('half', 12);
    void run('waiting', 1);
    turns.between(() => done.push('tick'));
    turns.between(() => done.push('snapshot'));
    assert.deepEqual(done, ['at once']);
    turn();
    assert.deepEqual(done, ['at once', 'half', 'tick', 'snapshot', 'waiting']);
  });

  test('steps that come next run before what has not begun, in several turns, with nothing in between', () => {
    const { turns, run, turn, done } = createLoop();
    void run('half', 12);
    void run('waiting', 1);
    let left = 15;
    void turns.runNext({
      next() {
        left -= 1;
        done.push(`tick, ${left} left`);
        return left === 0 ? { done: true, value: undefined } : { done: false, value: undefined };
      },
    });
    turns.between(() => done.push('snapshot'));
    turn();
    turn();
    assert.deepEqual(done.slice(0, 2), ['half', 'tick, 14 left']);
    assert.deepEqual(done.slice(-3), ['tick, 0 left', 'snapshot', 'waiting']);
    assert.equal(done.length, 18);
  });

  test('work that throws rejects and does not hold up the rest', async () => {
    const { turns, run } = createLoop();
    const failing = turns.runOne(() => {
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.equal(await run('next', 1), 'next');
  });
});
