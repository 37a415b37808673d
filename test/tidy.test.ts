import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ALERT } from '../src/model/conventions.ts';
import {
  cycleViolations,
  documentViolations,
  errorCodeViolations,
  homeViolations,
  importViolations,
  purityViolations,
  runbookViolations,
  structureViolations,
  type Tree,
  textViolations,
} from './support/tidy.ts';

const root = join(import.meta.dirname, '..');
const TEXT = /\.(ts|md|mjs|json|yaml)$/;

/** Never ours: what is installed, built or written while running. */
const SKIPPED = new Set(['node_modules', 'dist', 'data', 'coverage', '.git']);

function pathsBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.has(entry.name)) return [];
    return entry.isDirectory() ? pathsBelow(path) : [path];
  });
}

function readTree(): Tree {
  const textOf = (path: string): string =>
    TEXT.test(path) && path !== 'package-lock.json' ? readFileSync(join(root, path), 'utf8') : '';
  return new Map(pathsBelow('').map((path) => [path, textOf(path)]));
}

const tree = readTree();
const alerts = Object.values(ALERT);
const RULES: Readonly<Record<string, (tree: Tree) => string[]>> = {
  'imports point inward': importViolations,
  'pure files are pure': purityViolations,
  'the outside world is touched at home': homeViolations,
  'there are no import cycles': cycleViolations,
  'there are no barrels, default exports or dead files': structureViolations,
  'lines are readable and nothing is left unfinished': textViolations,
  'every alert has a runbook and the reverse': (files) => runbookViolations(files, alerts),
  'every error code is documented and the reverse': errorCodeViolations,
  'documents have one title and links that resolve': documentViolations,
};

describe('the tree keeps the house rules', () => {
  test('the tree was read', () => {
    assert.ok([...tree.keys()].filter((path) => path.startsWith('src/')).length > 100);
  });
  for (const [name, rule] of Object.entries(RULES)) {
    test(name, () => assert.deepEqual(rule(tree), []));
  }
});

/** A violation per rule and kind: the file to plant, its text, and what the rule must say. */
const PLANTED: readonly { rule: string; path: string; text: string; says: RegExp }[] = [
  {
    rule: 'imports point inward',
    path: 'src/base/planted.ts',
    text: "import { x } from '../model/alert.ts';",
    says: /base may not import model/,
  },
  {
    rule: 'imports point inward',
    path: 'src/burn/planted.ts',
    text: "import { x } from '../app/app.ts';",
    says: /burn may not import app/,
  },
  {
    rule: 'imports point inward',
    path: 'src/base/planted.ts',
    text: "import { x } from './gone.ts';",
    says: /does not exist/,
  },
  { rule: 'imports point inward', path: 'src/extra/planted.ts', text: '', says: /not in the table/ },
  {
    rule: 'pure files are pure',
    path: 'src/slo/planted.ts',
    text: "import { readFileSync } from 'node:fs';",
    says: /imports node:fs/,
  },
  {
    rule: 'pure files are pure',
    path: 'src/detect/planted.ts',
    text: "import { parse } from 'yaml';",
    says: /imports yaml/,
  },
  {
    rule: 'pure files are pure',
    path: 'src/correlate/planted.ts',
    text: 'export const now = () => Date.now();',
    says: /uses Date/,
  },
  {
    rule: 'pure files are pure',
    path: 'src/series/planted.ts',
    text: 'export const x = Math.random();',
    says: /uses Math.random/,
  },
  {
    rule: 'pure files are pure',
    path: 'src/sim/policies/planted.ts',
    text: 'export const x = Math.random();',
    says: /uses Math.random/,
  },
  {
    rule: 'imports point inward',
    path: 'src/sim/planted.ts',
    text: "import { x } from '../burn/engine.ts';",
    says: /sim may not import burn/,
  },
  {
    rule: 'imports point inward',
    path: 'src/sim/planted.ts',
    text: "import { x } from '../app/app.ts';",
    says: /sim may not import app/,
  },
  {
    rule: 'pure files are pure',
    path: 'src/otlp/decode-planted.ts',
    text: 'export const x = Buffer.alloc(1);',
    says: /uses Buffer/,
  },
  {
    rule: 'the outside world is touched at home',
    path: 'src/app/planted.ts',
    text: 'process.exit(1);',
    says: /process.exit/,
  },
  {
    rule: 'the outside world is touched at home',
    path: 'src/api/planted.ts',
    text: 'console.log(1);',
    says: /console/,
  },
  {
    rule: 'the outside world is touched at home',
    path: 'src/store/planted.ts',
    text: 'export const h = process.env.HOME;',
    says: /process.env/,
  },
  {
    rule: 'there are no import cycles',
    path: 'src/base/planted.ts',
    text: "import { x } from './planted.ts';",
    says: /cycle: /,
  },
  {
    rule: 'there are no barrels, default exports or dead files',
    path: 'src/base/planted.ts',
    text: "export * from './units.ts';",
    says: /re-exports/,
  },
  {
    rule: 'there are no barrels, default exports or dead files',
    path: 'src/base/planted.ts',
    text: 'export default 1;',
    says: /default export/,
  },
  {
    rule: 'there are no barrels, default exports or dead files',
    path: 'src/base/planted.ts',
    text: 'export const x = 1;',
    says: /nobody imports/,
  },
  {
    rule: 'there are no barrels, default exports or dead files',
    path: 'src/base/plantedFile.ts',
    text: '',
    says: /kebab-case/,
  },
  {
    rule: 'lines are readable and nothing is left unfinished',
    path: 'src/base/planted.ts',
    text: `export const x = ${'1 + '.repeat(40)}1;`,
    says: /columns/,
  },
  {
    rule: 'lines are readable and nothing is left unfinished',
    path: 'test/planted.test.ts',
    text: `${'test.'}skip('x', () => {});`,
    says: /skipped/,
  },
  {
    rule: 'lines are readable and nothing is left unfinished',
    path: 'src/base/planted.ts',
    text: `// ${'TO'}DO later`,
    says: /unfinished/,
  },
  {
    rule: 'every alert has a runbook and the reverse',
    path: 'runbooks/Planted.md',
    text: '# Planted',
    says: /no alert has this name/,
  },
  {
    rule: 'every alert has a runbook and the reverse',
    path: 'runbooks/ErrorBudgetBurn.md',
    text: '# ErrorBudgetBurn\n\n## Meaning\n',
    says: /lacks ## Is it real/,
  },
  {
    rule: 'every error code is documented and the reverse',
    path: 'src/api/planted.ts',
    text: `const code = 'API_${'PLANTED'}';`,
    says: /lacks API_PLANTED/,
  },
  {
    rule: 'every error code is documented and the reverse',
    path: 'docs/errors.md',
    text: '# E\n\n| `API_GONE` | x |\n',
    says: /lists API_GONE/,
  },
  {
    rule: 'documents have one title and links that resolve',
    path: 'docs/planted.md',
    text: '# A\n\n[b](gone.md)\n',
    says: /leads nowhere/,
  },
  {
    rule: 'documents have one title and links that resolve',
    path: 'docs/planted.md',
    text: 'no title\n',
    says: /0 titles/,
  },
];

describe('each house rule can fail', () => {
  for (const { rule, path, text, says } of PLANTED) {
    test(`${rule}: ${path} with ${JSON.stringify(text.slice(0, 60))}`, () => {
      const check = RULES[rule];
      assert.ok(check !== undefined, rule);
      const found = check(new Map([...tree, [path, text]]));
      assert.ok(
        found.some((violation) => says.test(violation)),
        `the rule said only: ${found.join('; ') || 'nothing'}`,
      );
    });
  }
  test('a missing runbook is found', () => {
    const without = new Map([...tree].filter(([path]) => path !== 'runbooks/ErrorBudgetBurn.md'));
    assert.deepEqual(runbookViolations(without, alerts), ['runbooks/ErrorBudgetBurn.md is missing']);
  });
});
