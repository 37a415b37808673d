import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runEngine } from './engine.ts';
import { CLEAN_MINUTES, historyOf, KINDS, MINUTES } from './history.ts';
import { engineTruth, prometheusTruth } from './oracle.ts';
import { countersOf } from './samples.ts';
import { AGREEMENT_SLO } from './slo.ts';

describe('our engine agrees with brute force over raw counters, minute by minute', () => {
  KINDS.forEach((kind, seed) => {
    test(kind, () => {
      const history = historyOf(seed);
      assert.equal(history.kind, kind);
      const counters = countersOf(history);
      const engine = runEngine(AGREEMENT_SLO, history, counters);
      let flips = 0;
      for (const group of history.groups) {
        const own = counters.filter((counter) => counter.group === group);
        const expected = engineTruth(history, own, engine.watermarks);
        engine.truth.get(group)?.forEach((track, tier) => {
          assert.deepEqual(track, expected[tier], `${group}, tier ${tier}`);
          for (let minute = CLEAN_MINUTES + 1; minute <= MINUTES; minute += 1) {
            if (track[minute] !== track[minute - 1]) flips += 1;
          }
        });
      }
      assert.ok(flips > 0, 'a history in which nothing happens proves nothing');
    });
  });

  test('the two models differ where balancers are silent: the comparison is able to fail', () => {
    const history = historyOf(KINDS.indexOf('gaps'));
    const counters = countersOf(history);
    const { watermarks } = runEngine(AGREEMENT_SLO, history, counters);
    const differing = history.groups.some((group) => {
      const own = counters.filter((counter) => counter.group === group);
      const [ours, theirs] = [engineTruth(history, own, watermarks), prometheusTruth(own)];
      return ours.some((track, tier) => track.some((holds, minute) => holds !== theirs[tier]?.[minute]));
    });
    assert.ok(differing);
  });
});
