import path from 'node:path';
import { loadRules } from '../../src/config/load.ts';
import type { DetectorSettings } from '../../src/detect/settings.ts';

const PACKAGE = path.resolve(import.meta.dirname, '../..');

/** Detectors as shipped: all of them, or those named. */
export function shippedDetectors(...names: readonly string[]): ReadonlyMap<string, DetectorSettings> {
  const shippedDir = path.join(PACKAGE, 'rules');
  const { rules } = loadRules({ rulesDir: null, shippedDir, runbooksDir: path.join(PACKAGE, 'runbooks') });
  if (rules === null) throw new Error('the shipped rules do not load');
  if (names.length === 0) return rules.detectors;
  return new Map([...rules.detectors].filter(([name]) => names.includes(name)));
}
