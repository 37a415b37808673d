import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { present } from '../../src/base/assert.ts';
import { ms } from '../../src/base/units.ts';
import { type BurnEngine, type BurnRecord, type BurnTick, createBurnEngine } from '../../src/burn/engine.ts';
import { labelsOf, labelsToObject } from '../../src/model/labels.ts';
import type { Policy, Tier } from '../../src/slo/slo.ts';
import { factorOf } from '../../src/slo/windows.ts';
import { headline, pagesIn, run, type Said, statusAt } from '../support/burn-run.ts';
import { at, DAY, HOUR, MINUTE, RawCells, RawGroup, SECOND, sloOf } from '../support/raw-cells.ts';

const tierOf = (over: Partial<Tier> & { readonly exhaustsWithin: Tier['exhaustsWithin'] }): Tier => ({
  name: `${over.exhaustsWithin / MINUTE}m`,
  severity: 'page',
  long: ms(60 * SECOND),
  short: ms(20 * SECOND),
  minBurn: 'full',
  minBadEvents: 0,
  factor: factorOf(ms(HOUR), over.exhaustsWithin),
  ...over,
});

/** On an SLO window of 1h: 6x over 60s/20s pages, 2x over 120s/60s is a ticket. */
const FAST: Policy = {
  name: 'fast',
  confidence: null,
  tiers: [
    tierOf({ exhaustsWithin: ms(10 * MINUTE) }),
    tierOf({ exhaustsWithin: ms(30 * MINUTE), severity: 'ticket', long: ms(120 * SECOND), short: ms(60 * SECOND) }),
  ],
};
const fastSlo = () => sloOf({ policy: FAST, window: '1h', target: '0.9' });

/** 100 events per step, clean for two hours, then the given bad events per step in turn, each for a while. */
function cellsOf(...spans: readonly (readonly [forMs: number, bad: number])[]): RawCells {
  const group = new RawGroup(fastSlo()).steady(-2 * HOUR, 0, 0, 100);
  let from = 0;
  for (const [forMs, bad] of spans) {
    group.steady(from, from + forMs, bad, 100);
    from += forMs;
  }
  return new RawCells(group);
}

const lines = (news: readonly Said[]) => news.map((said) => `${said.after / 1000} ${headline(said)}`);

describe('windows of seconds', () => {
  test('both must burn at the factor; the alert ends as soon as no tier holds', () => {
    const { news } = run(cellsOf([MINUTE, 100], [5 * MINUTE, 0]), -MINUTE, 6 * MINUTE);
    // 2x over 120 s takes 24 s of outage, 6x over 60 s takes 36 s.
    assert.deepEqual(lines(news), [
      '30 fired ticket 30m',
      '40 changed page 10m',
      // The short window of the page tier holds 12 s of outage up to 68 s; the ticket's 12 s up to 108 s.
      '70 changed page 10m',
      '110 resolved',
    ]);
  });

  test('an empty short window does not hold', () => {
    const group = new RawGroup(fastSlo()).steady(-2 * HOUR, 0, 0, 100).steady(0, 40 * SECOND, 100, 100);
    const status = statusAt(new RawCells(group), 70 * SECOND);
    assert.equal(status.burn.get('20s'), null);
    assert.deepEqual(status.tiersHolding, ['30m']);
  });
});

describe('an alert', () => {
  const outage = [2 * MINUTE, 100] as const;

  test('has the identity of SLO and group, carries the labels of the SLO, and says where it is', () => {
    const { alert } = present(run(cellsOf(outage), -MINUTE, MINUTE).news[0], 'alert').change;
    assert.equal(alert.key, 'ErrorBudgetBurn{"lb.upstream.cluster"="checkout","slo"="checkout-availability"}');
    assert.deepEqual(
      { ...labelsToObject(alert.labels) },
      { 'lb.upstream.cluster': 'checkout', service: 'checkout', slo: 'checkout-availability', team: 'edge' },
    );
    assert.deepEqual(alert.place, { service: 'checkout', cluster: 'checkout' });
    assert.deepEqual([alert.owner, alert.since], ['service', at(30 * SECOND)]);
  });

  test('says how bad it is in words and figures', () => {
    const { alert } = present(run(cellsOf(outage), -MINUTE, 100 * SECOND).said.at(-1), 'alert').change;
    assert.match(alert.summary, /^Errors \d+ % of requests; budget gone in \d+ (s|min) \(.+ to .+\)\.$/);
    const texts = alert.evidence.map(({ text }) => text).join('; ');
    assert.match(
      texts,
      /burns \d.*x over 1m; \d+ of 600 events were bad; burns 10x over 20s; .* % of the 1h budget left/,
    );
    assert.ok((alert.burn?.spentSince ?? 0) > 0);
  });

  test('gives fresh figures at most once a minute, and none when nothing is new', () => {
    const { said } = run(cellsOf([MINUTE, 100], [30 * MINUTE, 30]), 0, 31 * MINUTE);
    const updates = said.filter(({ change }) => change.kind === 'updated').map(({ after }) => after);
    assert.ok(updates.length > 5);
    updates.forEach((after, index) => {
      assert.ok(index === 0 || after - (updates[index - 1] ?? 0) >= MINUTE);
    });
    const cells = cellsOf([5 * MINUTE, 100]);
    const { engine } = run(cells, 0, 5 * MINUTE);
    cells.feedOf = () => ({ reporting: false, coverage: 0, watermark: at(5 * MINUTE), newestPointAt: at(5 * MINUTE) });
    const held = run(cells, 7 * MINUTE, 30 * MINUTE, { engine });
    assert.deepEqual(held.said.slice(1), []);
  });

  test('of an edited label is the same alert, and says so with its next figures', () => {
    const cells = cellsOf([10 * MINUTE, 100]);
    const { engine } = run(cells, 0, MINUTE);
    const group = present(cells.list[0], 'group');
    group.slo = { ...group.slo, labels: labelsOf([['team', 'qa']]) };
    const after = run(cells, MINUTE, 3 * MINUTE, { engine });
    assert.deepEqual(after.news, []);
    assert.equal(after.said.at(-1)?.change.alert.labels.get('team'), 'qa');
  });

  test('of a changed query ends before that of the new one may begin', () => {
    const cells = cellsOf([10 * MINUTE, 100]);
    const { engine } = run(cells, 0, MINUTE);
    const group = present(cells.list[0], 'group');
    group.slo = { ...group.slo, generation: 'g2' };
    const now = at(MINUTE + 10 * SECOND);
    cells.reveal(now);
    const tick = engine.evaluate(cells, now);
    assert.deepEqual(
      tick.changes.map(({ kind }) => kind),
      ['resolved', 'fired'],
    );
    assert.deepEqual([tick.removed, tick.stored.length], [[], 1]);
  });

  test('that pages again within 5 min of its last page tier is the same page', () => {
    const { news } = run(cellsOf([MINUTE, 100], [3 * MINUTE, 25], [MINUTE, 100], [3 * MINUTE, 25]), 0, 8 * MINUTE);
    assert.equal(pagesIn(news), 1);
  });
});

describe('what is read', () => {
  test('alert windows end at the watermark, the budget counts what came past it', () => {
    const cells = cellsOf([MINUTE, 100]);
    cells.feedOf = () => ({ watermark: at(0) });
    const status = statusAt(cells, MINUTE);
    assert.deepEqual([status.burn.get('1m'), status.bad, status.tiersHolding], [0, 600, []]);
  });

  test('the phase of the ticks does not matter', () => {
    const spans = [
      [MINUTE, 100],
      [4 * MINUTE, 30],
    ] as const;
    const [early, late] = [MINUTE, MINUTE + 3 * SECOND].map((after) => statusAt(cellsOf(...spans), after));
    assert.deepEqual(early?.burn, late?.burn);
    assert.deepEqual(early?.exhaustion, late?.exhaustion);
  });

  test('errors without events are flagged even where the SLO window as a whole adds up', () => {
    const group = new RawGroup(fastSlo()).steady(-2 * HOUR, 0, 0, 100).add(10 * SECOND, 40, 0);
    group.add(20 * SECOND, 0, 0);
    const status = statusAt(new RawCells(group), 20 * SECOND);
    assert.deepEqual([status.inconsistent, status.burn.get('20s'), status.severity], [true, null, null]);
  });

  test('more good than total leaves no SLI and no budget, and no negative count', () => {
    const status = statusAt(new RawCells(new RawGroup(fastSlo()).steady(-2 * HOUR, 0, -5, 100)), 0);
    assert.deepEqual(
      [status.state, status.inconsistent, status.sli, status.budgetRemaining, status.bad],
      ['measured', true, null, null, 0],
    );
  });

  test('burn does not depend on how the events are cut into steps', () => {
    const step = fc.record({ bad: fc.nat(50), good: fc.nat(500) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 360, maxLength: 360 }), (steps) => {
        const [whole, parts] = [new RawGroup(sloOf()), new RawGroup(sloOf())];
        let [bad, total] = [0, 0];
        steps.forEach((one, index) => {
          parts.add((index + 1) * 10 * SECOND - HOUR, one.bad, one.bad + one.good);
          [bad, total] = [bad + one.bad, total + one.bad + one.good];
        });
        // A first step without events gives both the same start of data.
        whole.add(10 * SECOND - HOUR, 0, 0).add(0, bad, total);
        const [one, other] = [whole, parts].map((group) => statusAt(new RawCells(group), 0));
        assert.equal(one?.burn.get('1h'), other?.burn.get('1h'));
        assert.equal(one?.budgetRemaining, other?.budgetRemaining);
      }),
      { seed: 61, numRuns: 30 },
    );
  });

  test('the usual windows and those of the policy are shown, shortest first', () => {
    const names = (policy: 'workbook' | 'countdown') => [
      ...statusAt(new RawCells(new RawGroup(sloOf({ policy }))), 0).burn.keys(),
    ];
    assert.deepEqual(names('workbook'), ['5m', '30m', '1h', '2h', '6h', '1d', '3d']);
    assert.deepEqual(names('countdown'), ['1m', '5m', '30m', '1h', '2h', '6h', '1d', '3d']);
  });
});

describe('a restart', () => {
  /** What a store holds after some ticks. */
  function stored(ticks: readonly BurnTick[]): readonly BurnRecord[] {
    const records = new Map<string, BurnRecord>();
    for (const tick of ticks) {
      for (const record of tick.stored) records.set(record.key, record);
      for (const key of tick.removed) records.delete(key);
    }
    return [...records.values()];
  }

  function ticksOf(engine: BurnEngine, cells: RawCells, from: number, to: number): BurnTick[] {
    const ticks: BurnTick[] = [];
    for (let after = from + 10 * SECOND; after <= to; after += 10 * SECOND) {
      cells.reveal(at(after));
      ticks.push(engine.evaluate(cells, at(after)));
    }
    return ticks;
  }

  const restarted = (ticks: readonly BurnTick[], slos?: ReadonlySet<string>): BurnEngine => {
    const engine = createBurnEngine();
    engine.restore(stored(ticks), slos);
    return engine;
  };
  const said = (ticks: readonly BurnTick[]) =>
    ticks.flatMap(({ changes }) => changes.filter(({ kind }) => kind !== 'updated'));

  test('at any moment changes nothing of what is said, but the fall to ticket by a tick at most', () => {
    const spans = [
      [MINUTE, 100],
      [7 * MINUTE, 25],
      [2 * MINUTE, 0],
      [MINUTE, 80],
      [3 * MINUTE, 0],
    ] as const;
    const end = spans.reduce((sum, [forMs]) => sum + forMs, 0);
    const whole = said(ticksOf(createBurnEngine(), cellsOf(...spans), 0, end));
    assert.ok(whole.length > 5);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: end / 10_000 - 1 }), (steps) => {
        const cut = steps * 10 * SECOND;
        const before = ticksOf(createBurnEngine(), cellsOf(...spans), 0, cut);
        const after = ticksOf(restarted(before), cellsOf(...spans), cut, end);
        const both = [...said(before), ...said(after)];
        assert.equal(both.length, whole.length);
        both.forEach(({ kind, at: time, alert }, index) => {
          const other = present(whole[index], 'change');
          const { severity, tier, since, tiersHolding } = other.alert;
          assert.deepEqual(
            [kind, alert.severity, alert.tier, alert.since, alert.tiersHolding],
            [other.kind, severity, tier, since, tiersHolding],
          );
          assert.ok(Math.abs(time - other.at) <= (kind === 'changed' && severity === 'ticket' ? 10 * SECOND : 0));
        });
      }),
      { seed: 62, numRuns: 40 },
    );
  });

  test('without the group holds its alert for 24 h, and closes it at once if the SLO is gone', () => {
    const before = ticksOf(createBurnEngine(), cellsOf([MINUTE, 100]), 0, MINUTE);
    const empty = new RawCells();
    const reasons = ({ changes }: BurnTick) => changes.map((change) => change.kind === 'resolved' && change.reason);
    const engine = restarted(before, new Set(['checkout-availability']));
    assert.deepEqual(engine.evaluate(empty, at(2 * MINUTE)).changes, []);
    const overdue = engine.evaluate(empty, at(2 * MINUTE + DAY));
    assert.deepEqual([reasons(overdue), overdue.removed.length], [['retired'], 1]);
    assert.deepEqual(reasons(restarted(before, new Set(['another'])).evaluate(empty, at(2 * MINUTE))), ['removed']);
  });

  test('needs no write per tick: a state is stored only when it changes', () => {
    const ticks = ticksOf(createBurnEngine(), cellsOf([5 * MINUTE, 100]), 0, 5 * MINUTE);
    assert.deepEqual(
      ticks.flatMap(({ stored: records }, index) => (records.length > 0 ? [index + 1] : [])),
      [3, 4],
    );
  });
});
