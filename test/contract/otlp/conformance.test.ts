import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const GROUPS = { H: 15, G: 7, P: 6, B: 12, J: 10, D: 23, X: 10 };
const IDS = Object.entries(GROUPS).flatMap(([group, size]) =>
  Array.from({ length: size }, (_, index) => group + (index + 1)),
);

interface Row {
  readonly id: string;
  readonly cells: readonly string[];
  /** File and name of each test. */
  readonly tests: readonly (readonly [string, string])[];
}

/** The rows of the table whose first cell is an id. */
function rowsOf(document: string): Row[] {
  return document.split('\n').flatMap((line) => {
    const [, id = '', ...cells] = line
      .split(' | ')
      .join('|')
      .split('|')
      .map((cell) => cell.trim());
    if (!/^[A-Z]\d+$/.test(id)) return [];
    const found = [...(cells[2] ?? '').matchAll(/`([a-z-]+\.test\.ts)` (.*?)(?=; `[a-z-]+\.test\.ts`|$)/g)];
    return [{ id, cells, tests: found.map(([, file = '', name = '']) => [file, name] as const) }];
  });
}

/** What is wrong with a table, given the text of the test files. */
function faultsOf(document: string, textOf: (file: string) => string): string[] {
  const rows = rowsOf(document);
  const faults = IDS.filter((id) => rows.filter((row) => row.id === id).length !== 1).map(
    (id) => `${id} is not there once`,
  );
  for (const { id, cells, tests } of rows) {
    if (!IDS.includes(id)) faults.push(`${id} is no statement`);
    if (cells.length !== 4 || cells.slice(0, 3).some((cell) => cell === '')) faults.push(`${id} has an empty cell`);
    if (tests.length === 0) faults.push(`${id} names no test`);
    for (const [file, name] of tests) {
      if (!name.startsWith(`${id} `)) faults.push(`${id} names a test of another statement`);
      if (!textOf(file).includes(`test('${name}', `)) faults.push(`${file} has no test "${name}"`);
    }
  }
  return faults;
}

const document = readFileSync(join(root, 'docs/otlp-conformance.md'), 'utf8');
const textOf = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');

describe('docs/otlp-conformance.md', () => {
  test('has every statement once, and every test that it names', () => {
    assert.deepEqual(faultsOf(document, textOf), []);
  });

  test('would be found wanting', () => {
    const without = document.replace(/^\| D18 .*$/m, '');
    assert.deepEqual(faultsOf(without, textOf), ['D18 is not there once']);
    const twice = document.replace(/^\| B2 .*$/m, '$&\n$&');
    assert.deepEqual(faultsOf(twice, textOf), ['B2 is not there once']);
    const renamed = document.replace('H6 success is 200', 'H6 success is 201');
    assert.match(faultsOf(renamed, textOf).join(), /http\.test\.ts has no test "H6 success is 201/);
    const bare = document.replace(/^(\| X1 .*\| )`.*$/m, '$1 |');
    assert.deepEqual(faultsOf(bare, textOf), ['X1 has an empty cell', 'X1 names no test']);
  });
});
