import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseDecimal } from '../../../src/base/decimal.ts';
import { ms } from '../../../src/base/units.ts';
import type { Problem } from '../../../src/config/config.ts';
import { resolvePolicies } from '../../../src/config/policies.ts';
import { createPolicyBook } from '../../../src/config/policy-book.ts';
import { createReport } from '../../../src/config/report.ts';
import { parseYaml } from '../../../src/config/yaml-source.ts';
import type { Policy } from '../../../src/slo/slo.ts';
import { COUNTDOWN, DAY, WORKBOOK } from '../../support/fake-cells.ts';

const FILE = path.resolve(import.meta.dirname, '../../../rules/tiers.yaml');

function shipped(name: string): Policy {
  const problems: Problem[] = [];
  const [document] = parseYaml(FILE, readFileSync(FILE, 'utf8'), problems);
  assert.ok(document !== undefined);
  const policies = resolvePolicies(document.root, createReport(FILE, problems));
  const target = parseDecimal('0.999');
  assert.ok(target !== undefined);
  const built = createPolicyBook(policies, []).build(name, ms(30 * DAY), target);
  assert.deepEqual(problems, []);
  assert.ok(built.kind === 'policy');
  assert.deepEqual(built.left, []);
  return built.policy;
}

/** Fractions in lowest terms, as numbers where they decide nothing. */
const plainly = (policy: Policy) => ({
  ...policy,
  tiers: policy.tiers.map(({ factor, ...tier }) => ({
    ...tier,
    factor: Number((factor.numerator * 10_000n) / factor.denominator) / 10_000,
  })),
});

for (const policy of [COUNTDOWN, WORKBOOK]) {
  test(`the ${policy.name} that tests and simulations judge is the shipped one at 99.9 % over 30 days`, () => {
    assert.deepEqual(plainly(shipped(policy.name)), plainly(policy));
  });
}

test('the textbook factors at 30 days are 120, 14.4, 6, 3 and 1', () => {
  const factors = (name: string) => plainly(shipped(name)).tiers.map(({ factor }) => factor);
  assert.deepEqual(factors('workbook'), [14.4, 6, 3, 1]);
  assert.deepEqual(factors('countdown'), [120, 14.4, 6, 3, 1]);
});
