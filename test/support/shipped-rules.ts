import { join } from 'node:path';
import type { Rules } from '../../src/config/config.ts';
import { loadRules } from '../../src/config/load.ts';

const PACKAGE = join(import.meta.dirname, '..', '..');

/** The rules that the package brings. Throws when they have errors. */
export function shippedRules(): Rules {
  const { rules, problems } = loadRules({
    rulesDir: null,
    shippedDir: join(PACKAGE, 'rules'),
    runbooksDir: join(PACKAGE, 'runbooks'),
    offline: true,
  });
  if (rules === null) throw new Error(problems.map(({ message }) => message).join('\n'));
  return rules;
}
