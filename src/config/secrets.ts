import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Report } from './report.ts';
import type { ScalarNode, SourceNode } from './source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretSources {
  /** Relative paths in `${file:...}` start here: the folder of the file that names them. */
  readonly directory: string;
  readonly env: Environment;
}

const REFERENCE = /\$\{([^}]*)\}/g;

/**
 * Replaces `${file:path}` (without a final line break) and `${env:NAME}` in every text value. A secret that cannot be
 * read is reported at the value that names it, never with its content.
 */
export function readSecrets(node: SourceNode, sources: SecretSources, report: Report): SourceNode {
  if (node.kind === 'list') return { ...node, items: node.items.map((item) => readSecrets(item, sources, report)) };
  if (node.kind === 'map') {
    const entries = [...node.entries].map(
      ([key, entry]) => [key, { ...entry, value: readSecrets(entry.value, sources, report) }] as const,
    );
    return { ...node, entries: new Map(entries) };
  }
  return typeof node.value === 'string' && node.value.includes('${') ? readScalar(node, sources, report) : node;
}

function readScalar(node: ScalarNode, sources: SecretSources, report: Report): ScalarNode {
  const text = node.text.replaceAll(REFERENCE, (whole, reference: string) => {
    const found = readReference(reference, sources);
    if (typeof found === 'string') return found;
    report.error(node.at, { code: 'CONFIG_SECRET_MISSING', message: found.message, fix: found.fix });
    return whole;
  });
  return { ...node, value: text, text };
}

function readReference(reference: string, sources: SecretSources): string | { message: string; fix: string } {
  const [, kind, name = ''] = /^(file|env):(.+)$/s.exec(reference) ?? [];
  if (kind === 'env') {
    const value = sources.env[name];
    if (value !== undefined && value !== '') return value;
    return { message: `the environment has no ${name}`, fix: `set ${name} before starting, or use \${file:...}` };
  }
  if (kind !== 'file') {
    return { message: `\${${reference}} names no secret`, fix: `write \${file:path} or \${env:NAME}` };
  }
  try {
    const content = readFileSync(path.resolve(sources.directory, name), 'utf8').replace(/\r?\n$/, '');
    return content === '' ? { message: `the secret file ${name} is empty`, fix: 'put the secret into it' } : content;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return {
      message: `cannot read the secret file ${name} (${reason})`,
      fix: 'check the path, which starts at the folder of this file, and its permissions',
    };
  }
}
