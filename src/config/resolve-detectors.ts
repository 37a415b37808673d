import type { DetectorSettings } from '../detect/settings.ts';
import { OWNERS, type Severity } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { DETECTOR_THRESHOLDS } from './detector-thresholds.ts';
import type { Report } from './report.ts';
import { resolveDuration } from './resolve-window.ts';
import { booleanOf, child, entries, numberOf, type Position, type SourceNode, textOf } from './source.ts';

/**
 * Detectors of a detectors.yaml that has passed its schema. What an entry leaves out, and detectors that the file
 * leaves out, come from `defaults` (the shipped file); the shipped file itself is read with no defaults and must name
 * everything.
 */
export function resolveDetectors(
  root: SourceNode,
  defaults: ReadonlyMap<string, DetectorSettings>,
  report: Report,
): ReadonlyMap<string, DetectorSettings> {
  const found = new Map(defaults);
  for (const [name, { keyAt, value }] of entries(root)) {
    // An unknown name is the schema's finding.
    if (DETECTOR_THRESHOLDS[name] === undefined) continue;
    found.set(name, resolveDetector(name, keyAt, value, defaults.get(name), report));
  }
  return found;
}

function resolveDetector(
  name: string,
  at: Position,
  node: SourceNode,
  base: DetectorSettings | undefined,
  report: Report,
): DetectorSettings {
  const thresholds: Record<string, number> = { ...base?.thresholds };
  for (const [key, { kind }] of Object.entries(DETECTOR_THRESHOLDS[name] ?? {})) {
    const value = child(node, key);
    const number = kind === 'duration' ? resolveDuration(value, `${name}.${key}`, report) : numberOf(value);
    if (number !== undefined) thresholds[key] = number;
    else if (value === undefined && thresholds[key] === undefined) {
      report.error(at, {
        code: 'CONFIG_KEY_MISSING',
        message: `${name}.${key} has neither a value nor a shipped default`,
        fix: `add ${key}`,
      });
    }
  }
  if (name === ALERT.watchdog) checkPace(child(node, 'every')?.at ?? at, thresholds['every'], report);
  const severity = textOf(child(node, 'severity')) as Severity | undefined;
  const owner = OWNERS.find((known) => known === textOf(child(node, 'owner')));
  const receiver = textOf(child(node, 'receiver')) ?? base?.receiver;
  return {
    enabled: booleanOf(child(node, 'enabled')) ?? base?.enabled ?? true,
    severity: severity ?? base?.severity ?? 'ticket',
    owner: owner ?? base?.owner ?? 'edge',
    runbook: textOf(child(node, 'runbook')) ?? base?.runbook ?? name,
    ...(receiver === undefined ? {} : { receiver }),
    thresholds,
  };
}

/** The heartbeat follows evaluations, which come every 10 s: it cannot be more frequent. */
const SHORTEST_PACE_MS = 10_000;

function checkPace(at: Position, every: number | undefined, report: Report): void {
  if (every === undefined || every >= SHORTEST_PACE_MS) return;
  report.error(at, {
    code: 'CONFIG_VALUE_INVALID',
    message: 'Watchdog.every is shorter than the time between two evaluations',
    fix: 'write at least 10s',
  });
}
