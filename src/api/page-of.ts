import { Type } from 'typebox';
import type { Page } from '../model/views.ts';
import { badField } from './problem.ts';

const LIMIT_MAX = 1000;

/** The query of a list that `pageOf` serves. */
export const listQuery = () =>
  Type.Object(
    {
      cursor: Type.Optional(Type.String({ description: 'The next of the page before.' })),
      limit: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_MAX, description: 'Items on a page.' }),
    },
    { additionalProperties: false },
  );

/**
 * One page of a list that is held in memory, in the order of its keys. The cursor is the last key of the page before,
 * encoded: an item that comes or goes between two pages moves no other. Throws ProblemError when the cursor is not
 * one.
 */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  request: { readonly cursor?: string | undefined; readonly limit: number },
): Page<T> {
  const after = request.cursor === undefined ? null : decodeCursor(request.cursor);
  const sorted = items
    .map((item) => ({ key: keyOf(item), item }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const rest = after === null ? sorted : sorted.filter(({ key }) => key > after);
  const page = rest.slice(0, request.limit);
  const last = page.at(-1);
  return {
    items: page.map(({ item }) => item),
    next: rest.length > page.length && last !== undefined ? encodeCursor(last.key) : null,
  };
}

/** The same for a list whose order means something: a page goes on behind the item of its cursor. */
export function pageInOrder<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  request: { readonly cursor?: string | undefined; readonly limit: number },
): Page<T> {
  const after = request.cursor === undefined ? null : decodeCursor(request.cursor);
  const from = after === null ? 0 : items.findIndex((item) => keyOf(item) === after) + 1;
  if (after !== null && from === 0) throw badField('cursor', 'is of an item that is gone; start without it');
  const page = items.slice(from, from + request.limit);
  const last = page.at(-1);
  const isLast = last === undefined || from + page.length >= items.length;
  return { items: page, next: isLast ? null : encodeCursor(keyOf(last)) };
}

/** As JSON inside, so that any key survives, the empty one included. */
const encodeCursor = (key: string): string => Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');

function decodeCursor(cursor: string): string {
  const key = parsed(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (typeof key !== 'string' || encodeCursor(key) !== cursor) {
    throw badField('cursor', 'is not one that this list gave out; start without it');
  }
  return key;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
