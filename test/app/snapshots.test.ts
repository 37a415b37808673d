import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Engine } from '../../src/app/engine.ts';
import type { Ingest } from '../../src/app/ingest.ts';
import { createSnapshots } from '../../src/app/snapshots.ts';
import { openIngestLog } from '../../src/store/segment-log.ts';
import { saveSnapshot } from '../../src/store/snapshot-file.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-snapshots-'));
after(() => rmSync(directory, { recursive: true, force: true }));

test('a snapshot of another format is refused by name, not half read', async () => {
  const path = join(directory, 'snapshots');
  saveSnapshot(path, { position: { segment: 0, offset: 0 }, state: { format: 1, aggregate: {}, series: {} } });
  const log = await openIngestLog({ directory: join(directory, 'log') });
  const unread = (): never => assert.fail('the state was read');
  const engine = { aggregate: { restore: unread }, series: { restore: unread } } as unknown as Engine;
  const ingest = { recover: unread } as unknown as Ingest;
  const logger = createLogger({ level: 'silent' });
  const snapshots = createSnapshots({ directory: path, engine, ingest, log, logger });
  assert.throws(() => snapshots.recover(), { code: 'STORE_SNAPSHOT_FORMAT' });
  await log.close();
});
