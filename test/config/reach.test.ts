import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { present } from '../../src/base/assert.ts';
import { type FewFailures, QUIET_RATES } from '../../src/config/low-traffic.ts';
import { ERRORS_PER_MILLE, reachOf } from '../../src/config/reach.ts';
import { boundNote, RECOMMENDED_BOUNDS } from '../../src/config/recommended-bounds.ts';
import type { Policy, Slo, Tier } from '../../src/slo/slo.ts';
import { run } from '../support/burn-run.ts';
import { DAY, HOUR, MINUTE, RawCells, RawGroup, type SloOptions, sloOf } from '../support/raw-cells.ts';

const lowTrafficOf = (slo: Slo) => present(reachOf(slo).lowTraffic ?? undefined, 'low traffic');

const only = (policy: Policy, tier: Tier): Policy => ({ ...policy, tiers: [tier] });

/** Minutes after which the engine itself fires, from a clean window; null within `days`. */
function minutesInEngine(options: SloOptions, perMille: number, perMinute: number, days: number): number | null {
  const stepMs = days > 1 ? 5 * MINUTE : 10_000;
  const requests = (perMinute * stepMs) / MINUTE;
  const group = new RawGroup(sloOf(options))
    .steady(-31 * DAY, -8 * HOUR, 0, perMinute * 5, 5 * MINUTE)
    .steady(-8 * HOUR, 0, 0, perMinute / 6)
    .steady(0, days * DAY, (requests * perMille) / 1000, requests, stepMs);
  const { news } = run(new RawCells(group), 0, days * DAY, { everyMs: stepMs });
  const fired = news.find(({ change }) => change.kind === 'fired');
  return fired === undefined ? null : fired.after / MINUTE;
}

describe('what check says of the tiers is what the engine does', () => {
  for (const policy of ['workbook', 'countdown'] as const) {
    for (const [index, perMille] of ERRORS_PER_MILLE.entries()) {
      test(`${policy} at ${perMille / 10} % errors`, () => {
        const slo = sloOf({ policy });
        for (const { tier, minutes } of reachOf(slo).tiers) {
          const said = minutes[index] ?? null;
          const days = said === null ? 8 : Math.max(0.05, (said * 1.2) / 1440);
          const options = { policy: only(slo.policy, tier) };
          const found = minutesInEngine(options, perMille, 3_000_000, days);
          if (said === null) {
            assert.equal(found, null, tier.name);
            continue;
          }
          const step = days > 1 ? 5 : 1 / 6;
          const late = present(found ?? undefined, `${tier.name} fires`) - said;
          // Up to a step of time, and what the bound of many requests costs.
          assert.ok(late > -1e-6 - step / 10 && late <= step + said * 0.01, `${tier.name}: ${found}, said ${said}`);
        }
      });
    }
  }
});

describe('what check says of low traffic is what the engine does', () => {
  /** So many requests in every long window, evenly; the last ones fail. Whether the tier fires at once. */
  function firesAfter(slo: Slo, { tier, failures }: FewFailures, requests: number): boolean {
    const group = new RawGroup(slo);
    const stepMs = 10_000;
    const steps = tier.long / stepMs;
    const placed = Array.from({ length: requests }, (_, index) => Math.ceil(((index + 1) * steps) / requests));
    for (let start = -31 * DAY; start + tier.long <= 0; start += tier.long) {
      const isLast = start + tier.long === 0;
      for (const [index, step] of placed.entries()) {
        group.add(start + step * stepMs, isLast && index >= requests - failures ? 1 : 0, 1);
      }
    }
    const cells = new RawCells(group);
    return run(cells, -stepMs, 0).news.some(({ change }) => change.alert.severity === 'page');
  }

  for (const policy of ['workbook', 'countdown'] as const) {
    for (const target of ['0.999', '0.99']) {
      test(`${policy} at ${target}: so few failures page among so many requests, and not among one more`, () => {
        const slo = sloOf({ policy, target });
        const { fewFailures } = lowTrafficOf(slo);
        assert.ok(fewFailures.length >= 2);
        for (const few of fewFailures) {
          const alone = sloOf({ target, policy: only(slo.policy, few.tier) });
          assert.ok(firesAfter(alone, few, few.requests), `${few.tier.name} ${few.failures} of ${few.requests}`);
          assert.ok(!firesAfter(alone, few, few.requests + 1), `${few.tier.name} of ${few.requests + 1}`);
        }
      });
    }
  }

  test('one failure is 1 % of the budget of so many requests', () => {
    assert.equal(lowTrafficOf(sloOf({ target: '0.999' })).requestsForOnePercent, 100_000);
    assert.equal(lowTrafficOf(sloOf({ target: '0.9995' })).requestsForOnePercent, 200_000);
  });

  test('a full outage of a quiet group pages when the engine pages', () => {
    for (const policy of ['workbook', 'countdown'] as const) {
      const slo = sloOf({ policy });
      for (const [index, perMinute] of QUIET_RATES.entries()) {
        const everyMs = MINUTE / perMinute;
        const group = new RawGroup(slo).steady(-31 * DAY, 0, 0, 1, everyMs).steady(0, HOUR, 1, 1, everyMs);
        const { news } = run(new RawCells(group), 0, HOUR);
        const page = present(
          news.find(({ change }) => change.alert.severity === 'page'),
          'a page',
        );
        const said = present(lowTrafficOf(slo).outageMinutes[index] ?? undefined, 'minutes');
        assert.ok(
          Math.abs(page.after / MINUTE - said) <= 1 / 6 + 1e-9,
          `${policy} ${perMinute}: ${page.after / MINUTE}, said ${said}`,
        );
      }
    }
  });
});

describe('bounds of histograms', () => {
  const pageOf = (name: string): string =>
    readFileSync(join(import.meta.dirname, '../../docs/balancers', name), 'utf8');
  const boundsIn = (page: string, pattern: RegExp, unit: number): readonly number[] =>
    present(pattern.exec(pageOf(page))?.[1], page)
      .split(',')
      .map((bound) => Number(bound) / unit);

  test('the recommended ones are set by the setup pages', () => {
    const pages = [
      boundsIn('envoy.md', /_rq_time \}\s+buckets: \[([^\]]+)\]/, 1000),
      boundsIn('traefik.md', /explicitBoundaries: \[([^\]]+)\]/, 1),
      boundsIn('nginx.md', /--time-buckets=([\d.,]+)/, 1),
    ];
    const common = present(pages[0], 'a page').filter((bound) => pages.every((page) => page.includes(bound)));
    assert.deepEqual(RECOMMENDED_BOUNDS, common);
  });

  test('a note says whether a threshold is one of them', () => {
    const query = { metric: 'lb.request.duration', where: [] };
    const note = (threshold: number) =>
      boundNote({ ...sloOf(), indicator: { kind: 'latency', query, threshold } }) ?? '';
    assert.match(
      note(0.25),
      /^exact where the histogram has a bound at 0\.25 s; else .* The setup pages set this bound/,
    );
    assert.match(note(0.35), /Not every setup page sets this bound, only 0\.3 s and 0\.4 s: add it \(Envoy: /);
    assert.match(note(20), /only 10 s: add it/);
    assert.equal(boundNote(sloOf()), null);
  });
});
