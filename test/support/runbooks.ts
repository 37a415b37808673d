import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runbookNames } from '../../src/app/runbooks.ts';

export const RUNBOOKS_DIR = join(import.meta.dirname, '../../runbooks');

/** A fenced block of a runbook: its language, what it says, the line of its fence. */
export interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** A shipped runbook, taken apart. */
export interface ShippedRunbook {
  readonly name: string;
  readonly markdown: string;
  /** The table on top. */
  readonly facts: ReadonlyMap<string, string>;
  /** Scenarios of its drills. */
  readonly drills: readonly string[];
  readonly blocks: readonly Block[];
}

export const shippedRunbooks = (): readonly ShippedRunbook[] =>
  runbookNames(RUNBOOKS_DIR).map((name) => {
    const markdown = readFileSync(join(RUNBOOKS_DIR, `${name}.md`), 'utf8');
    return { name, markdown, facts: factsOf(markdown), drills: drillsOf(markdown), blocks: blocksOf(markdown) };
  });

/** The text below a heading, up to the next one. */
export function partOf(markdown: string, heading: string): string {
  const start = markdown.indexOf(`\n${heading}\n`);
  if (start === -1) return '';
  const rest = markdown.slice(start + heading.length + 2);
  const end = rest.search(/\n## /);
  return (end === -1 ? rest : rest.slice(0, end)).trim();
}

/** A text without its fenced blocks and code spans. */
export const proseOf = (markdown: string): string =>
  markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, '').replace(/`[^`\n]*`/g, '');

function factsOf(markdown: string): ReadonlyMap<string, string> {
  const top = markdown.slice(0, markdown.indexOf('\n## '));
  return new Map([...top.matchAll(/^\| ([\w ]+) \| (.+) \|$/gm)].map(([, name = '', value = '']) => [name, value]));
}

function drillsOf(markdown: string): readonly string[] {
  const [, names = ''] = /^\| drill \| `slowburn drill ([^`]+)` \|$/m.exec(markdown) ?? [];
  return names === '' ? [] : names.split(' ');
}

function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  for (const { 1: indent = '', 2: language = '', 3: text = '', index } of markdown.matchAll(
    /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm,
  )) {
    const lines = text.split('\n').map((line) => line.slice(indent.length));
    blocks.push({ language, text: lines.join('\n').trimEnd(), line: markdown.slice(0, index).split('\n').length });
  }
  return blocks;
}
