/**
 * A configuration file as a tree that remembers where everything stands. It is the border between the YAML library
 * and the pure code that gives the tree its meaning: every finding can point at the very key or value.
 */

/** A place in a file; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly at: Position;
  /** As YAML reads it. */
  readonly value: string | number | boolean | null;
  /** The characters of the file for a number (`0.9990` keeps its zero), else the value as text; empty for null. */
  readonly text: string;
}

export interface ListNode {
  readonly kind: 'list';
  readonly at: Position;
  readonly items: readonly SourceNode[];
}

export interface MapEntry {
  readonly keyAt: Position;
  readonly value: SourceNode;
}

export interface MapNode {
  readonly kind: 'map';
  readonly at: Position;
  readonly entries: ReadonlyMap<string, MapEntry>;
}

export type SourceNode = ScalarNode | ListNode | MapNode;

/** One YAML document of a file. */
export interface SourceDocument {
  readonly file: string;
  readonly root: SourceNode;
}

/** Plain JSON-like data of a tree, for schema validation. Objects have no prototype. */
export function toPlain(node: SourceNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(toPlain);
  const object = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of node.entries) object[key] = toPlain(entry.value);
  return object;
}

/** What a JSON pointer meets: the node, the key that leads to it, or undefined where the path leaves the tree. */
export function locate(
  root: SourceNode,
  path: readonly string[],
): { readonly node: SourceNode; readonly keyAt: Position } | undefined {
  let node = root;
  let keyAt = root.at;
  for (const part of path) {
    if (node.kind === 'map') {
      const entry = node.entries.get(part);
      if (entry === undefined) return undefined;
      node = entry.value;
      keyAt = entry.keyAt;
    } else if (node.kind === 'list') {
      const item = node.items[Number(part)];
      if (item === undefined) return undefined;
      node = item;
      keyAt = item.at;
    } else return undefined;
  }
  return { node, keyAt };
}

/** The value under a key of a map; undefined when there is no such key or `node` is no map. */
export const child = (node: SourceNode | undefined, key: string): SourceNode | undefined =>
  node?.kind === 'map' ? node.entries.get(key)?.value : undefined;

/** Where a key stands; the map's own place when the key is absent. */
export const keyPosition = (node: SourceNode, key: string): Position =>
  (node.kind === 'map' ? node.entries.get(key)?.keyAt : undefined) ?? node.at;

/** The items of a list; empty for anything else. */
export const items = (node: SourceNode | undefined): readonly SourceNode[] => (node?.kind === 'list' ? node.items : []);

/** The entries of a map; empty for anything else. */
export const entries = (node: SourceNode | undefined): readonly (readonly [string, MapEntry])[] =>
  node?.kind === 'map' ? [...node.entries] : [];

/** The text of a scalar that is not null; numbers and booleans as written in the file. */
export const textOf = (node: SourceNode | undefined): string | undefined =>
  node?.kind === 'scalar' && node.value !== null ? node.text : undefined;

/** The number of a scalar; undefined for anything else. */
export const numberOf = (node: SourceNode | undefined): number | undefined =>
  node?.kind === 'scalar' && typeof node.value === 'number' ? node.value : undefined;

/**
 * The boolean of a scalar, also of the texts `true` and `false` (annotation values are texts); undefined for anything
 * else.
 */
export function booleanOf(node: SourceNode | undefined): boolean | undefined {
  if (node?.kind !== 'scalar') return undefined;
  if (typeof node.value === 'boolean') return node.value;
  return node.value === 'true' ? true : node.value === 'false' ? false : undefined;
}
