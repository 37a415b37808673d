import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { epochMs } from '../../src/base/units.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { HourlyFigures } from '../../src/model/measure.ts';
import { findTrends } from '../../src/trend/findings.ts';
import { normal } from '../support/normal.ts';
import { print } from '../support/rows.ts';
import { shippedDetectors } from '../support/shipped-detectors.ts';

const HOUR = 3_600_000;
const WEEK_HOURS = 168;
const HISTORY_WEEKS = 8;
const REVIEW_WEEKS = 5;
const REVIEWS = HISTORY_WEEKS - REVIEW_WEEKS + 1;
const QUARTER_REVIEWS = 13;
const START = 1_770_000_000_000 - (1_770_000_000_000 % HOUR);
const FLEETS = 5;

const detectors = shippedDetectors();

/** Per day, with a memory of the day before: fleets are never as even as chance alone. */
function wobble(prng: Prng, sd: number): readonly number[] {
  let last = 0;
  return Array.from({ length: HISTORY_WEEKS * 7 }, () => {
    last = 0.5 * last + Math.sqrt(0.75) * normal(prng);
    return sd * last;
  });
}

interface Drift {
  /** Added to the load of the first zone of the first cluster, of its mean, a week. */
  readonly zone: number;
}

/** Four clusters of three zones of four hosts and six balancers, with the tide of day and week. */
function fleet(seed: number, perHostHour: number, { zone: drift }: Drift): readonly HourlyFigures[] {
  const prng = createPrng(seed);
  const wobbles = new Map<string, readonly number[]>();
  const of = (name: string, sd: number): readonly number[] => {
    const known = wobbles.get(name) ?? wobble(prng, sd);
    wobbles.set(name, known);
    return known;
  };
  const rows: HourlyFigures[] = [];
  for (let i = 0; i < HISTORY_WEEKS * WEEK_HOURS; i += 1) {
    const hour = epochMs(START + (i + 1) * HOUR);
    const day = Math.floor(i / 24);
    const tide = (1 + 0.4 * Math.cos((Math.PI * i) / 12)) * (day % 7 > 4 ? 0.6 : 1);
    const put = (
      subject: readonly (readonly [string, string])[],
      figures: HourlyFigures['figures'],
      notes: HourlyFigures['notes'] = {},
    ) => rows.push({ hour, subject: labelsOf(subject), figures, notes });
    for (let cluster = 0; cluster < 4; cluster += 1) {
      const counts: number[] = [];
      for (let host = 0; host < 12; host += 1) {
        const zone = host % 3;
        const extra = cluster === 0 && zone === 0 ? 1 + (drift * i) / WEEK_HOURS : 1;
        const uneven =
          1 + (of(`${cluster} ${zone}`, 0.01)[day] as number) + (of(`${cluster} ${zone} ${host}`, 0.01)[day] as number);
        counts.push(prng.poisson(perHostHour * tide * extra * uneven));
      }
      const total = counts.reduce((sum, count) => sum + count, 0);
      put([['cluster', `c${cluster}`]], {
        host_skew: (Math.max(...counts) * counts.length) / total,
        ejections: prng.poisson(0.5 / 24),
        health_changes: prng.poisson(2 / 24),
        retries: prng.poisson(0.01 * total) / total,
      });
      for (let zone = 0; zone < 3; zone += 1) {
        const load = counts.reduce((sum, count, host) => sum + (host % 3 === zone ? count : 0), 0);
        put(
          [
            ['cluster', `c${cluster}`],
            ['zone', `z${zone}`],
          ],
          { zone_skew: (3 * load) / total },
        );
      }
    }
    const opened = Array.from({ length: 6 }, (_, b) =>
      prng.poisson(perHostHour * tide * (1 + (of(`lb ${b}`, 0.01)[day] as number))),
    );
    const all = opened.reduce((sum, count) => sum + count, 0);
    opened.forEach((count, b) => {
      put([['balancer', `lb-${b}`]], { connection_skew: (count * 6) / all, handshake_skew: (count * 6) / all });
    });
    const share = 0.65 + (of('resumption', 0.01)[day] as number);
    put([], { resumption: prng.poisson(share * all) / all, cross_zone: 0.05 + 0.005 * Math.abs(normal(prng)) });
  }
  return rows;
}

/** Each review's findings, `cluster zone measure`. */
function reviews(rows: readonly HourlyFigures[]): readonly (readonly string[])[] {
  return Array.from({ length: REVIEWS }, (_, i) => {
    const until = epochMs(START + (REVIEW_WEEKS + i) * WEEK_HOURS * HOUR);
    return findTrends(rows, detectors, until, REVIEW_WEEKS).map(
      ({ subject, measure }) => `${[...subject.values()].join(' ')} ${measure}`,
    );
  });
}

describe('the weekly review of healthy fleets', () => {
  for (const perHostHour of [200, 20_000]) {
    test(`${perHostHour} requests per host and hour: hardly ever told of what is chance`, () => {
      let findings = 0;
      for (let seed = 1; seed <= FLEETS; seed += 1) {
        findings += reviews(fleet(seed, perHostHour, { zone: 0 })).reduce((sum, one) => sum + one.length, 0);
      }
      const perQuarter = (findings / FLEETS / REVIEWS) * QUARTER_REVIEWS;
      print(
        `${perHostHour} requests per host and hour: ${findings} false findings in ${FLEETS} fleets x ${REVIEWS} reviews, ` +
          `${perQuarter.toFixed(2)} per fleet and quarter`,
      );
      assert.ok(perQuarter <= 1, `${perQuarter}`);
    });
  }

  test('2 % of the mean a week is found at every review, in the right zone, and what it does to others is not', () => {
    for (let seed = 101; seed <= 106; seed += 1) {
      for (const findings of reviews(fleet(seed, 20_000, { zone: 0.03 }))) {
        assert.ok(findings.includes('c0 z0 zone_skew'), `seed ${seed}: ${findings}`);
        assert.ok(!findings.some((one) => /^c0 z[12] zone_skew/.test(one)), `seed ${seed}: ${findings}`);
      }
    }
  });

  test('a detector that is switched off tells no trend either', () => {
    const rows = fleet(101, 20_000, { zone: 0.03 });
    const off = new Map(
      [...detectors].map(([name, own]) => [name, { ...own, enabled: name !== 'ZoneSkew' && own.enabled }]),
    );
    const until = epochMs(START + HISTORY_WEEKS * WEEK_HOURS * HOUR);
    assert.ok(findTrends(rows, detectors, until, REVIEW_WEEKS).length > 0);
    assert.deepEqual(findTrends(rows, off, until, REVIEW_WEEKS), []);
  });
});
