import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { createProgram } from '../../src/cli/program.ts';
import type { NoiseMark } from '../../src/model/noise-mark.ts';
import type { WeeklyReview } from '../../src/model/review.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { at, fakeRows, LATER } from '../support/review.ts';

const packageDir = join(import.meta.dirname, '../..');

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'slowburn-report-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function report(cwd: string, ...args: readonly string[]) {
  const said = { stdout: '', stderr: '' };
  const code = await createProgram({
    stdout(text) {
      said.stdout += text;
    },
    stderr(text) {
      said.stderr += text;
    },
    stdin: Readable.from([]),
    cwd,
    env: {},
    packageDir,
    version: '1.2.3',
    interactive: false,
  })(['report', ...args]);
  return { code, ...said };
}

test('the report reads the data directory while the service has it open, and writes nothing', async (t) => {
  const folder = folderOf(t);
  const store = openSqliteStore(join(folder, 'incidents.sqlite'));
  t.after(() => store.close());
  const nothing = { alertStates: [], alertStatesRemoved: [], incidents: [], changes: [], outbox: [] };
  store.commit({ at: LATER, ...nothing, hourly: fakeRows() });
  const args = ['--data', folder, '--week', '2026-W09'];
  const json = await report(folder, ...args, '--format', 'json');
  assert.equal(json.code, 0, json.stderr);
  assert.equal((JSON.parse(json.stdout) as WeeklyReview).trends.items[0]?.measure, 'zone_skew');
  assert.match((await report(folder, ...args)).stdout, /^# Weekly review 2026-W09\n/);
  assert.match((await report(folder, ...args, '--format', 'html')).stdout, /^<!doctype html>/);
  assert.deepEqual(await report(folder, ...args, '--format', 'json'), json);
});

test('a wrong week is a matter of usage, a directory without a store one of reading', async (t) => {
  const folder = folderOf(t);
  const missing = await report(folder, '--data', folder);
  assert.equal(missing.code, 3);
  assert.match(missing.stderr, /STORE_UNREADABLE/);
  openSqliteStore(join(folder, 'incidents.sqlite')).close();
  assert.equal((await report(folder, '--data', folder, '--week', '2026-W60')).code, 2);
  assert.match((await report(folder, '--data', folder, '--week', '2026-W09')).stdout, /Nothing was kept/);
});

test('what people judged is kept over a restart, in order', (t) => {
  const file = join(folderOf(t), 'incidents.sqlite');
  const marks: readonly NoiseMark[] = [
    { incident: 7, at: at(60), by: 'ada', isNoise: true, note: 'a test' },
    { incident: 8, at: at(61), by: 'bob', isNoise: true, note: null },
    { incident: 7, at: at(62), by: 'bob', isNoise: false, note: null },
  ];
  const store = openSqliteStore(file);
  for (const mark of marks) store.noiseMarks.add(mark);
  store.close();
  const again = openSqliteStore(file);
  assert.deepEqual(again.noiseMarks.list(null), marks);
  assert.deepEqual(again.noiseMarks.list(7), [marks[0], marks[2]]);
  again.close();
});
