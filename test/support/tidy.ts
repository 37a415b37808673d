/**
 * The house rules, as functions from a tree (path -> text) to violations. They take the tree as an argument so that
 * test/tidy.test.ts can plant violations and see that each rule is able to fail.
 */
export type Tree = ReadonlyMap<string, string>;

/** Which folder of src may import which others; its own is always allowed. `*` = every folder. */
export const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ['base'],
  slo: ['base', 'model'],
  aggregate: ['base', 'model', 'slo'],
  series: ['base', 'model', 'slo', 'aggregate', 'otlp/staging.ts'],
  burn: ['base', 'model', 'slo', 'aggregate'],
  detect: ['base', 'model', 'slo', 'aggregate'],
  trend: ['base', 'model', 'slo', 'aggregate', 'burn', 'detect'],
  review: ['base', 'model', 'detect/settings.ts', 'detect/distribution.ts', 'trend'],
  correlate: ['base', 'model'],
  hook: ['base', 'model'],
  otlp: ['base', 'model'],
  config: ['base', 'model', 'slo', 'burn', 'detect', 'correlate'],
  notify: ['base', 'model', 'correlate', 'store/store.ts'],
  store: ['base', 'model', 'correlate'],
  api: ['base', 'model', 'config/config.ts'],
  ui: ['base', 'model', 'review', 'api/runbook-page.ts'],
  telemetry: [
    'base',
    'model',
    'slo',
    'burn/status.ts',
    'aggregate/features.ts',
    'aggregate/total-cells.ts',
    'otlp/consumer.ts',
  ],
  generate: ['base', 'model', 'slo'],
  sim: ['base', 'model'],
  app: ['*'],
  cli: ['app', 'config', 'base', 'model', 'slo', 'burn', 'detect/watchdog.ts', 'generate', 'telemetry', 'sim'],
  'main.ts': ['cli'],
};

/** Files at the edge of a pure folder, which may import more than the rest of it. */
const EDGES: readonly { readonly files: RegExp; readonly imports: readonly string[] }[] = [
  { files: /^src\/sim\/emit\b/, imports: ['base', 'model', 'otlp/staging.ts', 'otlp/wire-writer.ts'] },
  { files: /^src\/sim\/drill\b/, imports: ['base', 'model', 'otlp', 'config', 'app', 'store/store.ts'] },
];

/** Pure: no node:*, no npm, no clock, no randomness, no environment. A folder, or single files of a mixed one. */
const PURE_FOLDERS = [
  'base',
  'model',
  'slo',
  'aggregate',
  'series',
  'burn',
  'detect',
  'trend',
  'review',
  'correlate',
  'hook',
  'generate',
];
const PURE_FILES = [
  /^src\/otlp\/(?!(http|grpc|body)-|metrics-receiver)/,
  /^src\/config\/(validate|resolve-.*|digest|suggest|policies|config|detector-thresholds)\.ts$/,
  /^src\/notify\/(.*\/)?(message|phrases|dedup|retry|outbox|text|links|due)\.ts$/,
  /^src\/sim\/(?!drill\b)/,
  /^src\/store\/(codec|store|ingest-log|memory-store|foreign-alert-store)\.ts$/,
];
const IMPURE = /\b(Date\b|Intl\b|Buffer\b|process\.|console\.|performance\.|setTimeout\(|setInterval\(|Math\.random)/;

/** Where the outside world may be touched, by what is touched. */
const HOMES: readonly { readonly what: RegExp; readonly name: string; readonly homes: readonly RegExp[] }[] = [
  { what: /\bprocess\.exit\(/, name: 'process.exit', homes: [/^src\/main\.ts$/] },
  { what: /\bprocess\.env\b/, name: 'process.env', homes: [/^src\/main\.ts$/] },
  { what: /\bconsole\./, name: 'console', homes: [] },
  { what: /\bMath\.random\b/, name: 'Math.random', homes: [/^src\/app\/app\.ts$/, /^src\/otlp\//] },
];

const LINE_COLUMNS_MAX = 120;

const sourceFiles = (tree: Tree): [string, string][] =>
  [...tree].filter(([path]) => path.startsWith('src/') && path.endsWith('.ts'));

/** Source without comments and without the contents of strings, so that prose does not count as code. */
export function codeOnly(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}

/** Module names that a file imports or re-exports, type imports included. */
export function importsOf(text: string): string[] {
  const found = text.matchAll(/^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'/gms);
  const dynamic = text.matchAll(/\bimport\('([^']+)'\)/g);
  return [...found, ...dynamic].map((match) => match[1] ?? '');
}

const partOf = (path: string): string => path.split('/')[1] ?? '';

function resolveImport(from: string, specifier: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const step of specifier.split('/')) {
    if (step === '..') parts.pop();
    else if (step !== '.') parts.push(step);
  }
  return parts.join('/');
}

const isPure = (path: string): boolean =>
  PURE_FOLDERS.includes(partOf(path)) || PURE_FILES.some((pattern) => pattern.test(path));

/** Imports point inward (design section 4). */
export function importViolations(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, text] of sourceFiles(tree)) {
    const part = partOf(path);
    const allowed = EDGES.find(({ files }) => files.test(path))?.imports ?? IMPORTS[part];
    if (allowed === undefined) found.push(`${path}: folder ${part} is not in the table of imports`);
    for (const specifier of importsOf(text)) {
      if (!specifier.startsWith('.')) continue;
      const target = resolveImport(path, specifier);
      const inSrc = target.slice('src/'.length);
      const fits = (rule: string): boolean => rule === '*' || inSrc === rule || inSrc.startsWith(`${rule}/`);
      if (partOf(target) !== part && !(allowed ?? []).some(fits))
        found.push(`${path}: ${part} may not import ${inSrc}`);
      if (!tree.has(target)) found.push(`${path}: imports ${target}, which does not exist`);
    }
  }
  return found;
}

/** Pure files import nothing from outside and touch no clock, randomness or environment. */
export function purityViolations(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, text] of sourceFiles(tree)) {
    if (!isPure(path)) continue;
    for (const specifier of importsOf(text)) {
      if (!specifier.startsWith('.')) found.push(`${path}: pure file imports ${specifier}`);
    }
    const touched = IMPURE.exec(codeOnly(text).replace(/^import type .*$/gm, ''));
    if (touched !== null) found.push(`${path}: pure file uses ${touched[1]}`);
  }
  return found;
}

/** The outside world is touched only at home. */
export function homeViolations(tree: Tree): string[] {
  return sourceFiles(tree).flatMap(([path, text]) =>
    HOMES.filter(({ what, homes }) => what.test(codeOnly(text)) && !homes.some((home) => home.test(path))).map(
      ({ name }) => `${path}: uses ${name} outside its home`,
    ),
  );
}

/** No import cycle between files; type imports do not count, they vanish. */
export function cycleViolations(tree: Tree): string[] {
  const edges = new Map<string, string[]>();
  for (const [path, text] of sourceFiles(tree)) {
    const runtime = text.replace(/^import type [^;]*;$/gms, '');
    edges.set(
      path,
      importsOf(runtime)
        .filter((name) => name.startsWith('.'))
        .map((name) => resolveImport(path, name)),
    );
  }
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' -> ')}`);
      return;
    }
    state.set(path, 'open');
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}

/** No barrel files: nothing is exported from elsewhere. No default exports, no file that nobody imports. */
export function structureViolations(tree: Tree): string[] {
  const found: string[] = [];
  const imported = new Set<string>(['src/main.ts']);
  for (const [path, text] of tree) {
    if (!path.endsWith('.ts')) continue;
    for (const name of importsOf(text)) if (name.startsWith('.')) imported.add(resolveImport(path, name));
  }
  for (const [path, text] of sourceFiles(tree)) {
    if (/^export (?:type )?(?:\*|\{[^}]*\}) from /m.test(text)) found.push(`${path}: re-exports another file`);
    if (/^export default /m.test(text)) found.push(`${path}: has a default export`);
    if (!imported.has(path)) found.push(`${path}: nobody imports it`);
    if (!/^src\/(?:[a-z0-9-]+\/)*[a-z0-9-]+\.ts$/.test(path)) found.push(`${path}: file names are kebab-case`);
  }
  return found;
}

/** Lines stay readable, and nothing unfinished or silenced is left behind. */
export function textViolations(tree: Tree): string[] {
  const found: string[] = [];
  const unfinished = new RegExp(
    `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b|@ts-(ignore|nocheck)|biome-ignore`,
  );
  for (const [path, text] of tree) {
    if (!path.endsWith('.ts') || path === 'test/support/tidy.ts') continue;
    text.split('\n').forEach((line, index) => {
      const at = `${path}:${index + 1}`;
      const isLong =
        line.length > LINE_COLUMNS_MAX && path.startsWith('src/') && !path.startsWith('src/ui/') && !/[`'"]/.test(line);
      if (isLong) found.push(`${at}: ${line.length} columns`);
      if (unfinished.test(line)) found.push(`${at}: unfinished or silenced: ${line.trim()}`);
      if (/\b(test|it|describe)\.(skip|only|todo)\(/.test(line)) found.push(`${at}: skipped or exclusive test`);
    });
  }
  return found;
}

/** The parts of a runbook, in the order in which they are read; before them stands a table of facts. */
export const RUNBOOK_HEADINGS = [
  '## Meaning',
  '## Is it real?',
  '## First minutes',
  '## Decide by signature',
  '## Mitigate',
  '## Verify recovery',
  '## Escalate',
  '## False positives and silencing',
  '## Why this threshold',
] as const;

/** Every alert has its runbook with its headings in order, and every runbook an alert. */
export function runbookViolations(tree: Tree, alerts: readonly string[]): string[] {
  const found: string[] = [];
  for (const alert of alerts) {
    const text = tree.get(`runbooks/${alert}.md`);
    if (text === undefined) {
      found.push(`runbooks/${alert}.md is missing`);
      continue;
    }
    const places = RUNBOOK_HEADINGS.map((heading) => text.indexOf(`\n${heading}\n`));
    if (places.includes(-1)) found.push(`runbooks/${alert}.md lacks ${RUNBOOK_HEADINGS[places.indexOf(-1)]}`);
    else if (places.some((place, index) => index > 0 && place < (places[index - 1] ?? 0))) {
      found.push(`runbooks/${alert}.md has its headings out of order`);
    }
  }
  for (const path of tree.keys()) {
    const name = /^runbooks\/(\w+)\.md$/.exec(path)?.[1];
    if (name !== undefined && name !== 'README' && !alerts.includes(name))
      found.push(`${path}: no alert has this name`);
  }
  return found;
}

const CODE = /\b((?:API|CONFIG|GENERATE|NOTIFY|OTLP|REPLAY|STORE)_[A-Z0-9]+(?:_[A-Z0-9]+)*)\b/g;

/** Every error code is in docs/errors.md, and every code there is in the source. */
export function errorCodeViolations(tree: Tree): string[] {
  const used = new Set<string>();
  for (const [, text] of sourceFiles(tree)) for (const match of text.matchAll(CODE)) used.add(match[1] ?? '');
  const documented = new Set(
    [...(tree.get('docs/errors.md') ?? '').matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map((m) => m[1] ?? ''),
  );
  return [
    ...[...used].filter((code) => !documented.has(code)).map((code) => `docs/errors.md lacks ${code}`),
    ...[...documented]
      .filter((code) => !used.has(code))
      .map((code) => `docs/errors.md lists ${code}, which nothing uses`),
  ];
}

/** Markdown: one title each, relative links resolve, nothing names a place on somebody's machine. */
export function documentViolations(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!path.endsWith('.md')) continue;
    const prose = text.replace(/```[\s\S]*?```/g, '');
    const titles = prose.match(/^# .+$/gm) ?? [];
    if (titles.length !== 1) found.push(`${path}: ${titles.length} titles`);
    for (const [, target = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target) || target.startsWith('#')) continue;
      const file = resolveImport(path, target.split('#')[0] ?? '');
      const exists =
        tree.has(file) || [...tree.keys()].some((known) => known.startsWith(`${file.replace(/\/$/, '')}/`));
      if (!exists) found.push(`${path}: link to ${target} leads nowhere`);
    }
  }
  return found;
}
