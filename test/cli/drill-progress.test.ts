import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DrillProgress } from '../../src/cli/drill-progress.ts';

const MINUTE_MS = 60_000;
const MISS = { misses: ['no page', 'no ticket'] };
const FINE = { misses: [] };

/** What is said on stderr; runs are told at these minutes. */
function said(interactive: boolean, told: readonly (readonly [minute: number, misses: readonly string[]])[]): string[] {
  const lines: string[] = [];
  let now = 5 * MINUTE_MS;
  const progress = new DrillProgress(told.length, { interactive, stderr: (text) => void lines.push(text) }, () => now);
  told.forEach(([minute, misses], index) => {
    now = (5 + minute) * MINUTE_MS;
    progress.tell({ scenario: 'hosts-slow', seed: index + 1 }, { misses }, index + 1);
  });
  progress.end();
  return lines;
}

describe('the progress of many drills', () => {
  test('into a log: a line a minute, a miss at once, nothing where all is over within one', () => {
    assert.deepEqual(
      said(false, [
        [0.5, FINE.misses],
        [0.6, MISS.misses],
        [1, FINE.misses],
        [1.9, FINE.misses],
        [2, FINE.misses],
        [4, FINE.misses],
      ]),
      [
        'missed: hosts-slow, seed 2: no page; no ticket\n',
        'after 1 min: 3 of 6 runs, 1 missed; last hosts-slow, seed 3\n',
        'after 2 min: 5 of 6 runs, 1 missed; last hosts-slow, seed 5\n',
      ],
    );
    assert.deepEqual(said(false, [[0.2, []]]), []);
  });

  test('on a terminal: one line that changes, above it the misses', () => {
    assert.deepEqual(
      said(true, [
        [0.1, FINE.misses],
        [0.2, MISS.misses],
      ]),
      [
        '\r\u001b[K1 of 2 runs, 0 missed; last hosts-slow, seed 1',
        '\r\u001b[Kmissed: hosts-slow, seed 2: no page; no ticket\n',
        '\r\u001b[K2 of 2 runs, 1 missed; last hosts-slow, seed 2',
        '\r\u001b[K',
      ],
    );
  });
});
