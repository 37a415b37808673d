import { join } from 'node:path';
import { loadRules } from '../config/load.ts';

/** Where the rules of drills come from; plain data, as it goes to other processes. */
export interface RulesSource {
  /** Absolute; null = the shipped rules. */
  readonly rulesDir: string | null;
  readonly packageDir: string;
}

export const loadDrillRules = ({ rulesDir, packageDir }: RulesSource): ReturnType<typeof loadRules> =>
  loadRules({
    rulesDir,
    shippedDir: join(packageDir, 'rules'),
    runbooksDir: join(packageDir, 'runbooks'),
    offline: true,
  });
