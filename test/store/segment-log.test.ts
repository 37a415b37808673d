import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { crc32 } from '../../src/store/crc32.ts';
import { openDataDirectory } from '../../src/store/data-directory.ts';
import type { IngestRecord } from '../../src/store/ingest-log.ts';
import { encodeRecord } from '../../src/store/log-record.ts';
import { type LogDamage, openIngestLog, type SegmentLogOptions } from '../../src/store/segment-log.ts';
import { loadNewestSnapshot, saveSnapshot } from '../../src/store/snapshot-file.ts';

const root = mkdtempSync(join(tmpdir(), 'slowburn-log-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const newDirectory = (): string => {
  count += 1;
  const path = join(root, String(count));
  mkdirSync(path);
  return path;
};

const recordOf = (number: number, size = 20): IngestRecord => ({
  receivedAt: epochMs(1_800_000_000_000 + number),
  transport: number % 2 === 0 ? 'http' : 'grpc',
  encoding: number % 3 === 0 ? 'json' : 'protobuf',
  compression: 'gzip',
  peer: '10.0.0.1',
  identityHeader: number % 2 === 0 ? null : `edge-${number}`,
  body: new Uint8Array(size).fill(number % 256),
});

async function readAll(options: SegmentLogOptions): Promise<{ records: IngestRecord[]; damage: LogDamage[] }> {
  const damage: LogDamage[] = [];
  const log = await openIngestLog({ ...options, onDamage: (one) => damage.push(one) });
  const records = [...log.read(null)].map(({ record }) => ({ ...record, body: new Uint8Array(record.body) }));
  await log.close();
  return { records, damage };
}

async function write(directory: string, records: number, options: Partial<SegmentLogOptions> = {}): Promise<void> {
  const log = await openIngestLog({ directory, ...options });
  for (let number = 0; number < records; number += 1) await log.append(recordOf(number));
  await log.close();
}

const segments = (directory: string): string[] =>
  readdirSync(directory)
    .sort()
    .map((file) => join(directory, file));

describe('the ingest log', () => {
  test('the checksum is the standard one', () => {
    assert.equal(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
  });

  test('reads back what was appended, over segments, and from a position on', async () => {
    const directory = newDirectory();
    await write(directory, 10, { segmentBytesMax: 200 });
    assert.ok(segments(directory).length > 2);
    const { records, damage } = await readAll({ directory });
    assert.deepEqual([records, damage], [Array.from({ length: 10 }, (_, number) => recordOf(number)), []]);
    const log = await openIngestLog({ directory });
    const positions = [...log.read(null)].map(({ position }) => position);
    const rest = [...log.read(positions[6] ?? null)].map(({ record }) => record.receivedAt);
    assert.deepEqual(
      rest,
      [7, 8, 9].map((number) => recordOf(number).receivedAt),
    );
    log.trim(positions[6] ?? { segment: 0, offset: 0 });
    assert.deepEqual([...log.read(positions[6] ?? null)].length, 3);
    await log.close();
  });

  test('appends that come together share one sync, and keep their order', async () => {
    const directory = newDirectory();
    const syncs: number[] = [];
    const log = await openIngestLog({ directory, onSync: (_, appends) => syncs.push(appends) });
    const positions = await Promise.all(Array.from({ length: 50 }, (_, number) => log.append(recordOf(number))));
    assert.ok(syncs.length <= 3, `${syncs.length} syncs`);
    assert.equal(
      syncs.reduce((sum, appends) => sum + appends, 0),
      50,
    );
    assert.deepEqual(
      [...positions].sort((a, b) => a.offset - b.offset),
      positions,
    );
    await log.close();
    assert.equal((await readAll({ directory })).records.length, 50);
  });

  test('a tail torn at any byte of the last record is cut, and everything before it survives', async () => {
    const directory = newDirectory();
    await write(directory, 3);
    const [file = ''] = segments(directory);
    const whole = readFileSync(file);
    const log = await openIngestLog({ directory });
    const lastFrom = [...log.read(null)].map(({ position }) => position.offset)[1] ?? 0;
    await log.close();
    for (let keep = lastFrom + 1; keep < whole.length; keep += 1) {
      const torn = newDirectory();
      copyFileSync(file, join(torn, 'ingest-0000000000.log'));
      truncateSync(join(torn, 'ingest-0000000000.log'), keep);
      const { records, damage } = await readAll({ directory: torn });
      assert.equal(records.length, 2, `${keep} bytes kept`);
      assert.deepEqual(
        damage.map(({ kind }) => kind),
        ['torn_tail'],
      );
    }
  });

  test('a flipped byte in an older segment is reported with what it cost; every other record is read', async () => {
    const directory = newDirectory();
    await write(directory, 9, { segmentBytesMax: 200 });
    const [file = ''] = segments(directory);
    const bytes = readFileSync(file);
    bytes[30] = (bytes[30] ?? 0) ^ 0xff;
    writeFileSync(file, bytes);
    const { records, damage } = await readAll({ directory });
    const lost = encodeRecord(recordOf(0)).length;
    assert.deepEqual(damage, [{ segment: 0, offset: 0, bytes: lost, kind: 'corrupt' }]);
    assert.deepEqual(
      records,
      Array.from({ length: 8 }, (_, index) => recordOf(index + 1)),
    );
  });

  test('a disk that refuses is told to the sender, and the log goes on in a fresh segment when it can', async () => {
    const directory = newDirectory();
    let refuse = false;
    const openFile: NonNullable<SegmentLogOptions['openFile']> = async (path) => {
      const handle = await open(path, 'a');
      const sync = handle.datasync.bind(handle);
      handle.datasync = async () => {
        if (refuse) throw new Error('ENOSPC');
        await sync();
      };
      return handle;
    };
    const log = await openIngestLog({ directory, openFile });
    await log.append(recordOf(0));
    refuse = true;
    await assert.rejects(log.append(recordOf(1)), { code: 'STORE_UNWRITABLE', retryable: true });
    assert.equal(log.writable(), false);
    refuse = false;
    await new Promise((done) => setTimeout(done, 1100));
    await log.append(recordOf(2));
    assert.equal(log.writable(), true);
    await log.close();
    const times = (await readAll({ directory })).records.map(({ receivedAt }) => receivedAt);
    assert.ok(times.includes(recordOf(0).receivedAt) && times.includes(recordOf(2).receivedAt));
  });

  test('kill -9 in the middle of appends loses nothing acknowledged', async () => {
    const script = join(root, 'appender.mts');
    const source = join(import.meta.dirname, '..', '..', 'src', 'store', 'segment-log.ts');
    writeFileSync(
      script,
      `import { openIngestLog } from ${JSON.stringify(source)};
const log = await openIngestLog({ directory: process.argv[2] ?? '' });
for (let number = 0; ; number += 1) {
  await log.append({ receivedAt: number as never, transport: 'http', encoding: 'json', compression: 'none', peer: 'p', identityHeader: null, body: new Uint8Array(3000).fill(number % 256) });
  process.stdout.write(number + '\\n');
}`,
    );
    for (let run = 0; run < 10; run += 1) {
      const directory = newDirectory();
      const tsx = join(import.meta.dirname, '..', '..', 'node_modules', 'tsx', 'dist', 'loader.mjs');
      const child = spawn(process.execPath, ['--import', `file://${tsx}`, script, directory], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let acknowledged = '';
      child.stdout.on('data', (chunk: Buffer) => {
        acknowledged += chunk.toString();
        if (acknowledged.split('\n').length > 5 + run * 7) child.kill('SIGKILL');
      });
      await once(child, 'close');
      const last = Number(acknowledged.trim().split('\n').at(-1));
      const { records } = await readAll({ directory });
      assert.ok(records.length > last, `${records.length} records, ${last} acknowledged`);
      assert.deepEqual(
        records.map(({ receivedAt }) => receivedAt as number),
        records.map((_, index) => index),
      );
    }
  });
});

describe('snapshots and the data directory', () => {
  test('the newest whole snapshot is taken; a damaged one is passed over and named', () => {
    const directory = newDirectory();
    for (const offset of [1, 2, 3])
      saveSnapshot(directory, { position: { segment: 0, offset }, state: new Map([['a', offset]]) });
    const files = readdirSync(directory).sort();
    assert.equal(files.length, 2);
    assert.deepEqual(loadNewestSnapshot(directory)?.state, new Map([['a', 3]]));
    const newest = join(directory, files[1] ?? '');
    const bytes = readFileSync(newest);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(newest, bytes);
    const damaged: string[] = [];
    assert.equal(loadNewestSnapshot(directory, (file) => damaged.push(file))?.position.offset, 2);
    assert.deepEqual(damaged, [files[1]]);
  });

  test('one process at a time holds a data directory', () => {
    const directory = newDirectory();
    const held = openDataDirectory(directory);
    assert.throws(() => openDataDirectory(directory), { code: 'STORE_DATA_DIR_LOCKED' });
    held.release();
    openDataDirectory(directory).release();
  });

  test('a path that cannot be a directory is refused with a hint', () => {
    const file = join(newDirectory(), 'file');
    writeFileSync(file, '');
    assert.throws(() => openDataDirectory(file), { code: 'STORE_DATA_DIR_UNUSABLE' });
  });
});
