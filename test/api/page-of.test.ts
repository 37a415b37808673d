import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pageOf } from '../../src/api/page-of.ts';
import { ProblemError } from '../../src/api/problem.ts';

describe('paging a list in memory', () => {
  const itself = (item: string): string => item;

  test('following the cursors gives every item once, in order, however long the pages are', () => {
    const keys = fc.uniqueArray(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 4 }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 9 }), (items, limit) => {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = pageOf(items, itself, { cursor, limit });
          assert.ok(page.items.length <= limit);
          seen.push(...page.items);
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        assert.deepEqual(
          seen,
          [...items].sort((a, b) => (a < b ? -1 : 1)),
        );
      }),
    );
  });

  test('an item that goes between two pages moves no other', () => {
    const first = pageOf(['a', 'b', 'c', 'd'], itself, { limit: 2 });
    assert.deepEqual(first.items, ['a', 'b']);
    assert.deepEqual(pageOf(['c', 'd'], itself, { cursor: first.next ?? '', limit: 2 }).items, ['c', 'd']);
  });

  test('what is not a cursor is refused', () => {
    for (const cursor of ['', '!', 'a b', 'YQ==', 'YQ', 'NQ']) {
      assert.throws(() => pageOf(['a'], itself, { cursor, limit: 1 }), ProblemError, JSON.stringify(cursor));
    }
  });
});
