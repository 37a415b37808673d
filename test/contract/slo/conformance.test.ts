import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const CASES = [1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 14, 15, 16, 17, 18, 20, 21, 23, 24, 25, 27, 30, 32];
const upTo = (group: string, size: number): string[] => Array.from({ length: size }, (_, index) => group + (index + 1));
const IDS = [...CASES.map((number) => `F${number}`), ...upTo('M', 10), ...upTo('I', 9), ...upTo('L', 4)];
/** Data files whose every case must stand in the document's reach: its id is a row. */
const DATA = ['arithmetic', 'points', 'rules', 'slices', 'whole'].map((name) => `contract/slo/${name}.json`);

interface Row {
  readonly id: string;
  readonly cells: readonly string[];
  readonly tests: readonly (readonly [file: string, name: string])[];
}

/** The rows of the tables whose first cell is an id. Names of tests may hold semicolons. */
function rowsOf(document: string): Row[] {
  return document.split('\n').flatMap((line) => {
    const [, id = '', ...cells] = line.split('|').map((cell) => cell.trim());
    if (!/^[A-Z]\d+$/.test(id)) return [];
    const found = [...(cells[2] ?? '').matchAll(/`([a-z/-]+\.(?:test\.ts|json))` (.*?)(?=; `[a-z/-]+\.|$)/g)];
    return [{ id, cells, tests: found.map(([, file = '', name = '']) => [file, name] as const) }];
  });
}

/** What is wrong with the tables, given the text of files below test/. */
function faultsOf(document: string, textOf: (file: string) => string): string[] {
  const rows = rowsOf(document);
  const faults = IDS.filter((id) => rows.filter((row) => row.id === id).length !== 1).map(
    (id) => `${id} is not there once`,
  );
  for (const { id, cells, tests } of rows) {
    if (!IDS.includes(id)) faults.push(`${id} is not known`);
    if (cells.length !== 4 || cells.slice(0, 3).some((cell) => cell === '')) faults.push(`${id} has an empty cell`);
    if (tests.length === 0) faults.push(`${id} names no test`);
    for (const [file, name] of tests) {
      const text = textOf(file);
      const isThere = file.endsWith('.json') ? text.includes(`"name": "${name}"`) : text.includes(`test('${name}', `);
      if (!isThere) faults.push(`${file} has no test "${name}"`);
    }
  }
  return faults;
}

const document = readFileSync(join(root, 'docs/slo-conformance.md'), 'utf8');
const textOf = (file: string): string => readFileSync(join(root, 'test', file), 'utf8');

describe('docs/slo-conformance.md', () => {
  test('has every case, figure and invariant once, and every test that it names', () => {
    assert.deepEqual(faultsOf(document, textOf), []);
  });

  test('has a row for every case of the data', () => {
    const names = DATA.flatMap((file) => (JSON.parse(textOf(file)) as { cases: { name: string }[] }).cases);
    assert.ok(names.length > 40);
    const strays = names.filter(({ name }) => !IDS.includes(/^([A-Z]\d+)[a-z]? /.exec(name)?.[1] ?? ''));
    assert.deepEqual(strays, []);
  });

  test('would be found wanting', () => {
    const without = document.replace(/^\| F18 .*$/m, '');
    assert.deepEqual(faultsOf(without, textOf), ['F18 is not there once']);
    const renamed = document.replace('F32 no error series', 'F32 no such series');
    assert.match(faultsOf(renamed, textOf).join(), /points\.json has no test "F32 no such series/);
    const bare = document.replace(/^(\| I4 .*\| )`.*$/m, '$1 |');
    assert.deepEqual(faultsOf(bare, textOf), ['I4 has an empty cell', 'I4 names no test']);
  });
});
