import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const PAGES = join(import.meta.dirname, '..', '..', 'docs', 'balancers');

/** A fenced block: its language, and the word after it that says what the block configures. */
export interface Block {
  readonly language: string;
  readonly purpose: string;
  readonly text: string;
}

/** The fenced blocks of `docs/balancers/<page>.md`, from top to bottom. */
export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(PAGES, `${page}.md`), 'utf8');
  return [...text.matchAll(/^```(\w+) ?([\w-]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', purpose = '', body = '']) => ({ language, purpose, text: body }),
  );
}

/** The text of the page's only block for `purpose`. */
export function blockOf(page: string, purpose: string): string {
  const fitting = blocksOf(page).filter((block) => block.purpose === purpose);
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) {
    throw new Error(`docs/balancers/${page}.md has ${fitting.length} blocks for ${purpose}`);
  }
  return only.text;
}

/** The page's block for `purpose`, read as YAML: what a reader would copy. */
export const configOf = <T>(page: string, purpose: string): T => parse(blockOf(page, purpose)) as T;
