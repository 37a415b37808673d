import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createReplay } from '../../src/app/replay.ts';
import type { ReplayLine } from '../../src/app/replay-input.ts';
import { createLineSink } from '../../src/app/replay-output.ts';
import { loadRules } from '../../src/config/load.ts';
import type { GroupViewOut, SloView } from '../../src/model/views.ts';

const PACKAGE = join(import.meta.dirname, '..', '..');

/** What a replay of good lines under a folder of rules writes: all of it, its alerts, and the last SLO with its group. */
export function replayRules(rulesDir: string, lines: readonly ReplayLine[]) {
  const options = { rulesDir, shippedDir: join(PACKAGE, 'rules'), runbooksDir: join(PACKAGE, 'runbooks') };
  const { rules, problems } = loadRules({ ...options, offline: true });
  assert.ok(rules !== null, JSON.stringify(problems));
  const written: string[] = [];
  const run = createReplay(
    rules,
    createLineSink((line) => written.push(line)),
  );
  for (const line of lines) assert.equal(run.line(line), null);
  run.finish(null);
  const { slo } = JSON.parse(written.at(-1) ?? '{}') as { slo: SloView };
  const alerts = written
    .map((line) => JSON.parse(line) as { type: string; state: string })
    .filter(({ type }) => type === 'alert');
  return { text: written.join('\n'), alerts, slo, group: slo.groups[0] as GroupViewOut };
}
