import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { AppError } from '../base/app-error.ts';
import type { Problem } from './config.ts';
import { createReport, type Report } from './report.ts';
import type { MapEntry, Position, SourceDocument, SourceNode } from './source.ts';

/** More nodes than any real file has; stops anchors that expand into each other without end. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 60;

interface Reading {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly report: Report;
  nodes: number;
}

/**
 * Reads every document of a YAML 1.2 text. A document with a syntax error is reported (CONFIG_YAML_SYNTAX and others)
 * and left out; empty documents are skipped. Never throws for bad input.
 */
export function parseYaml(file: string, text: string, problems: Problem[]): readonly SourceDocument[] {
  const lines = new LineCounter();
  const report = createReport(file, problems);
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    logLevel: 'silent',
  });
  const found: SourceDocument[] = [];
  if (!Array.isArray(parsed)) return found;
  for (const document of parsed) {
    if (document.errors.length > 0) {
      for (const error of document.errors) report.error(positionAt(lines, error.pos[0]), syntaxFinding(error));
      continue;
    }
    const contents = document.contents;
    if (contents === null || (isScalar(contents) && contents.value === null)) continue;
    const before = problems.length;
    const root = toSource({ document, lines, report, nodes: 0 }, contents, 0);
    if (root !== undefined && problems.length === before) found.push({ file, root });
  }
  return found;
}

function syntaxFinding(error: { readonly code: string; readonly message: string }) {
  if (error.code === 'DUPLICATE_KEY') {
    return { code: 'CONFIG_KEY_TWICE', message: 'this key stands twice in one map', fix: 'keep one of the two' };
  }
  const message = error.message.replaceAll('\n', ' ').replace(/\.$/, '');
  return {
    code: 'CONFIG_YAML_SYNTAX',
    message: `not valid YAML: ${message}`,
    fix: 'look at the indentation, quotes and brackets here and on the line before',
  };
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function toSource(reading: Reading, node: Node | null, depth: number): SourceNode | undefined {
  const at = positionAt(reading.lines, node?.range?.[0] ?? 0);
  reading.nodes += 1;
  if (reading.nodes > MAX_NODES || depth > MAX_DEPTH) {
    // Reported once: the count stays above the limit and every caller returns at once.
    if (reading.nodes !== Number.POSITIVE_INFINITY) {
      reading.report.error(at, {
        code: 'CONFIG_YAML_TOO_LARGE',
        message: 'the file expands to too many or too deep values',
        fix: 'use fewer anchors and aliases, or split the file',
      });
    }
    reading.nodes = Number.POSITIVE_INFINITY;
    return undefined;
  }
  if (node === null) return { kind: 'scalar', at, value: null, text: '' };
  if (isAlias(node)) return toSource(reading, node.resolve(reading.document) ?? null, depth + 1);
  if (isScalar(node)) return toScalar(reading, node, at);
  if (isSeq(node)) return toList(reading, node.items as readonly (Node | null)[], at, depth);
  if (isMap(node)) return toMap(reading, node.items as readonly { key: unknown; value: Node | null }[], at, depth);
  return undefined;
}

interface YamlScalar {
  readonly value: unknown;
  readonly source?: string | undefined;
  readonly tag?: string | undefined;
  readonly type?: string | undefined;
}

function toScalar(reading: Reading, node: YamlScalar, at: Position): SourceNode {
  const { value, source = '', tag } = node;
  // `{ lb.side: !downstream }` means "not downstream" in a condition; YAML takes the word for a tag on an empty value.
  if (tag?.startsWith('!') === true && source === '') return { kind: 'scalar', at, value: tag, text: tag };
  if (tag?.startsWith('!') === true) {
    reading.report.error(at, {
      code: 'CONFIG_YAML_TAG',
      message: `the YAML tag ${tag} has no meaning here`,
      fix: `put the whole value in quotes: "${tag} ${source}"`,
    });
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) {
    return { kind: 'scalar', at, value, text: typeof value === 'number' ? source : String(value ?? '') };
  }
  return { kind: 'scalar', at, value: source, text: source };
}

function toList(
  reading: Reading,
  values: readonly (Node | null)[],
  at: Position,
  depth: number,
): SourceNode | undefined {
  const list: SourceNode[] = [];
  for (const value of values) {
    const item = toSource(reading, value, depth + 1);
    if (item === undefined) return undefined;
    list.push(item);
  }
  return { kind: 'list', at, items: list };
}

function toMap(
  reading: Reading,
  pairs: readonly { key: unknown; value: Node | null }[],
  at: Position,
  depth: number,
): SourceNode | undefined {
  const map = new Map<string, MapEntry>();
  for (const { key, value } of pairs) {
    if (!isScalar(key)) {
      reading.report.error(at, {
        code: 'CONFIG_YAML_SYNTAX',
        message: 'a key must be plain text',
        fix: 'put the key in quotes, or the template value that stands here',
      });
      return undefined;
    }
    const keyAt = positionAt(reading.lines, key.range?.[0] ?? 0);
    // `key` alone in braces has no value node: point at the key.
    const node = value === null ? { kind: 'scalar' as const, at: keyAt, value: null, text: '' } : undefined;
    const child = node ?? toSource(reading, value, depth + 1);
    if (child === undefined) return undefined;
    map.set(typeof key.value === 'string' ? key.value : (key.source ?? String(key.value)), { keyAt, value: child });
  }
  return { kind: 'map', at, entries: map };
}

/** The code that a failure to read a file gets. */
export function readProblem(file: string, error: unknown): Problem {
  const reason = error instanceof AppError || error instanceof Error ? error.message : String(error);
  return {
    severity: 'error',
    file,
    line: 1,
    column: 1,
    code: 'CONFIG_FILE_UNREADABLE',
    message: `cannot read the file: ${reason}`,
    fix: 'check that it exists and that this user may read it',
  };
}
