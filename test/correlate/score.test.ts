import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { type LabelledScene, scoreOf } from '../../src/correlate/score.ts';

const scene = (alerts: readonly (readonly [cause: string, incident: number])[], rest: Partial<LabelledScene> = {}) => ({
  alerts: alerts.map(([cause, incident]) => ({ cause, incident })),
  causes: [],
  pages: 0,
  leftOpen: 0,
  changedByRestart: 0,
  ...rest,
});

describe('the score of incidents against true causes', () => {
  test('causes apart in incidents of their own are perfect', () => {
    const score = scoreOf([
      scene([
        ['a', 1],
        ['a', 1],
        ['b', 2],
      ]),
    ]);
    assert.deepEqual([score.precision, score.recall, score.overMerged, score.alertsPerIncident], [1, 1, 0, 1.5]);
  });

  test('two causes in one incident cost precision, one cause in two costs recall', () => {
    // Incident 1: a a b = 3 pairs, one of them of one cause. Cause a: 3 alerts = 3 pairs, one of them together.
    const score = scoreOf([
      scene([
        ['a', 1],
        ['a', 1],
        ['b', 1],
        ['a', 2],
      ]),
    ]);
    assert.deepEqual([score.precision, score.recall, score.overMerged], [1 / 3, 1 / 3, 1 / 2]);
  });

  test('scenes are added up, not mixed: the same names in two scenes are not the same', () => {
    const one = scene([
      ['a', 1],
      ['a', 1],
    ]);
    const score = scoreOf([one, one]);
    assert.deepEqual([score.incidents, score.precision, score.recall], [2, 1, 1]);
  });

  test('a cause that deserves a page and gets none is missed; waits are from its first alert', () => {
    const cause = (since: number, pagedAt: number | null) => ({
      cause: 'a',
      since: epochMs(since),
      deservesPage: true,
      pagedAt: pagedAt === null ? null : epochMs(pagedAt),
    });
    const score = scoreOf([scene([], { causes: [cause(0, 10), cause(0, null), cause(5, 35), cause(0, 20)] })]);
    assert.deepEqual([score.pagesDeserved, score.pagesMissed, score.firstPageMs], [4, 1, { median: 20, longest: 30 }]);
  });

  test('nothing to judge is null, not perfect', () => {
    const score = scoreOf([scene([['a', 1]])]);
    assert.deepEqual([score.precision, score.recall, score.firstPageMs], [null, null, null]);
  });
});
