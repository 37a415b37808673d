import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsOf } from '../../src/model/labels.ts';
import { compileQuery } from '../../src/series/match.ts';
import type { Condition } from '../../src/slo/slo.ts';

const holds = (where: readonly Condition[], attributes: Readonly<Record<string, string>>): boolean =>
  compileQuery({ metric: 'm', where })('m', labelsOf(Object.entries(attributes)));

test('only the metric that was asked for', () => {
  assert.equal(compileQuery({ metric: 'm', where: [] })('m', labelsOf([])), true);
  assert.equal(compileQuery({ metric: 'm', where: [] })('n', labelsOf([])), false);
});

test('all conditions must hold', () => {
  const where: Condition[] = [
    { kind: 'equals', attribute: 'a', value: '1' },
    { kind: 'equals', attribute: 'b', value: '2' },
  ];
  assert.equal(holds(where, { a: '1', b: '2' }), true);
  assert.equal(holds(where, { a: '1' }), false);
});

test('a missing attribute is empty', () => {
  assert.equal(holds([{ kind: 'equals', attribute: 'a', value: '' }], {}), true);
  assert.equal(holds([{ kind: 'not', attribute: 'a', value: 'x' }], {}), true);
  assert.equal(holds([{ kind: 'not', attribute: 'a', value: '' }], {}), false);
  assert.equal(holds([{ kind: 'in', attribute: 'a', values: ['x', ''] }], {}), true);
  assert.equal(holds([{ kind: 'matches', attribute: 'a', pattern: '.+' }], {}), false);
});

test('not and in', () => {
  assert.equal(holds([{ kind: 'not', attribute: 'a', value: 'x' }], { a: 'x' }), false);
  assert.equal(holds([{ kind: 'in', attribute: 'a', values: ['x', 'y'] }], { a: 'y' }), true);
  assert.equal(holds([{ kind: 'in', attribute: 'a', values: ['x', 'y'] }], { a: 'xy' }), false);
});

test('patterns are anchored at both ends, alternatives too', () => {
  const where: Condition[] = [{ kind: 'matches', attribute: 'a', pattern: '5..|none' }];
  assert.equal(holds(where, { a: '503' }), true);
  assert.equal(holds(where, { a: 'none' }), true);
  assert.equal(holds(where, { a: '1503' }), false);
  assert.equal(holds(where, { a: 'nonesuch' }), false);
});
