import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The runbooks of a folder by name, sorted. */
export function runbookNames(directory: string): readonly string[] {
  const files = readdirSync(directory).filter((file) => /^[A-Za-z0-9_-]+\.md$/.test(file) && file !== 'README.md');
  return files.map((file) => file.slice(0, -'.md'.length)).sort();
}

/** The Markdown of one; null when the folder has none of that name. */
export function readRunbook(directory: string, name: string): string | null {
  if (!/^[A-Za-z0-9_-]+$/.test(name) || !runbookNames(directory).includes(name)) return null;
  return readFileSync(join(directory, `${name}.md`), 'utf8');
}
