import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IngestLog } from '../../src/store/ingest-log.ts';
import { encodeRecord } from '../../src/store/log-record.ts';
import { type LogDamage, openIngestLog } from '../../src/store/segment-log.ts';
import { recordOf } from './numbered-record.ts';

const root = mkdtempSync(join(tmpdir(), 'slowburn-recovery-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
function newDirectory(): string {
  count += 1;
  const path = join(root, String(count));
  mkdirSync(path);
  return path;
}
const fileOf = (directory: string, segment = 0): string =>
  join(directory, `ingest-${String(segment).padStart(10, '0')}.log`);
const numbersOf = (log: IngestLog): number[] => [...log.read(null)].map(({ record }) => record.receivedAt);

/** A disk that can be told to refuse syncs, and counts them. */
function createDisk() {
  const disk = {
    refuses: false,
    syncs: 0,
    openFile: async (path: string): Promise<FileHandle> => {
      const handle = await open(path, 'a');
      const datasync = handle.datasync.bind(handle);
      handle.datasync = async () => {
        disk.syncs += 1;
        if (disk.refuses) throw new Error('EIO');
        await datasync();
      };
      return handle;
    },
  };
  return disk;
}

describe('group commit', () => {
  test('appends that arrive while a sync runs share the next one', async () => {
    const disk = createDisk();
    const log = await openIngestLog({ directory: newDirectory(), openFile: disk.openFile });
    await Promise.all(Array.from({ length: 100 }, (_, number) => log.append(recordOf(number))));
    assert.equal(disk.syncs, 2, 'one for the first, one for the 99 that came meanwhile');
    await log.close();
  });

  test('an append that comes any number of microtasks after the last one ended is written too', async () => {
    const log = await openIngestLog({ directory: newDirectory() });
    let number = 0;
    for (let hops = 0; hops < 40; hops += 1) {
      await log.append(recordOf(number));
      for (let hop = 0; hop < hops; hop += 1) await null;
      // One that is forgotten never resolves, and the runner ends the test as pending.
      await log.append(recordOf(number + 1));
      number += 2;
    }
    assert.equal(numbersOf(log).length, number);
    await log.close();
  });
});

describe('a log whose disk failed', () => {
  test('goes on under steady traffic once the disk does', async () => {
    const disk = createDisk();
    const log = await openIngestLog({ directory: newDirectory(), openFile: disk.openFile });
    await log.append(recordOf(0));
    disk.refuses = true;
    await assert.rejects(log.append(recordOf(1)), { code: 'STORE_UNWRITABLE' });
    disk.refuses = false;
    let taken = false;
    for (let attempt = 0; attempt < 100 && !taken; attempt += 1) {
      await sleep(50);
      taken = await log.append(recordOf(2)).then(
        () => true,
        () => false,
      );
    }
    assert.ok(taken);
    assert.deepEqual(numbersOf(log), [0, 2]);
    await log.close();
  });

  test('goes on without any traffic, because readiness asks', async () => {
    const disk = createDisk();
    const directory = newDirectory();
    const log = await openIngestLog({ directory, openFile: disk.openFile });
    disk.refuses = true;
    await assert.rejects(log.append(recordOf(1)));
    await sleep(1050);
    assert.equal(log.writable(), false);
    await sleep(200);
    assert.equal(log.writable(), false, 'the disk still refuses');
    disk.refuses = false;
    for (let attempt = 0; attempt < 100 && !log.writable(); attempt += 1) await sleep(50);
    assert.ok(log.writable());
    await log.append(recordOf(2));
    assert.deepEqual(numbersOf(log), [2]);
    assert.throws(() => statSync(join(directory, 'probe.tmp')), { code: 'ENOENT' });
    await log.close();
  });

  test('does not move its end while it fails, so that a snapshot taken then hides nothing after a restart', async () => {
    const disk = createDisk();
    const directory = newDirectory();
    const log = await openIngestLog({ directory, openFile: disk.openFile });
    const durable = await log.append(recordOf(0));
    disk.refuses = true;
    await assert.rejects(log.append(recordOf(1)));
    const snapshotAt = log.end();
    assert.deepEqual(snapshotAt, durable);
    await log.close();
    const again = await openIngestLog({ directory });
    await again.append(recordOf(2));
    assert.deepEqual(
      [...again.read(snapshotAt)].map(({ record }) => record.receivedAt as number),
      [2],
    );
    await again.close();
  });

  test('does not bring back after a restart what it refused', async () => {
    const disk = createDisk();
    const directory = newDirectory();
    const log = await openIngestLog({ directory, openFile: disk.openFile });
    await log.append(recordOf(0));
    disk.refuses = true;
    await assert.rejects(log.append(recordOf(1)));
    await log.close();
    const again = await openIngestLog({ directory });
    assert.deepEqual(numbersOf(again), [0]);
    await again.close();
  });

  test('a directory that cannot be made is refused as something to try again', async () => {
    const file = join(newDirectory(), 'file');
    writeFileSync(file, '');
    await assert.rejects(openIngestLog({ directory: join(file, 'ingest') }), {
      code: 'STORE_UNWRITABLE',
      retryable: true,
    });
  });
});

describe('a log that is not what it was', () => {
  test('whole records behind a broken length are never cut off, and later appends are read back', async () => {
    const directory = newDirectory();
    const records = [0, 1, 2, 3].map((number) => encodeRecord(recordOf(number)));
    const bytes = Buffer.concat(records);
    const second = records[0]?.length ?? 0;
    bytes.writeUInt32LE(70 * 1024 * 1024, second + 4);
    writeFileSync(fileOf(directory), bytes);
    const damage: LogDamage[] = [];
    const log = await openIngestLog({ directory, onDamage: (one) => damage.push(one) });
    assert.deepEqual(readFileSync(fileOf(directory)), bytes);
    const position = await log.append(recordOf(9));
    assert.equal(position.segment, 1);
    assert.deepEqual(numbersOf(log), [0, 9]);
    assert.deepEqual(damage, [{ segment: 0, offset: second, bytes: bytes.length - second, kind: 'corrupt' }]);
    await log.close();
  });

  test('a record inside the body of one that a crash cut short is not read', async () => {
    const directory = newDirectory();
    const inner = encodeRecord(recordOf(66));
    const outer = encodeRecord({ ...recordOf(1), body: Buffer.concat([inner, Buffer.alloc(50)]) });
    writeFileSync(fileOf(directory), encodeRecord(recordOf(0)));
    appendFileSync(fileOf(directory), outer.subarray(0, -20));
    const log = await openIngestLog({ directory });
    assert.deepEqual(numbersOf(log), [0]);
    await log.close();
  });

  test('a body full of headers does not hold up the start', async () => {
    const directory = newDirectory();
    const header = encodeRecord({ ...recordOf(1), body: new Uint8Array(4_000_000) }).subarray(0, 12);
    const bytes = Buffer.concat([encodeRecord(recordOf(0)), ...Array.from({ length: 1_000_000 }, () => header)]);
    // The first header claims more than there is, so that all behind it is looked through.
    bytes.writeUInt32LE(75_000_000, encodeRecord(recordOf(0)).length + 4);
    writeFileSync(fileOf(directory), bytes);
    const log = await openIngestLog({ directory });
    assert.deepEqual(numbersOf(log), [0]);
    assert.equal(statSync(fileOf(directory)).size, bytes.length, 'not looked through to the end, so not cut');
    await log.close();
  });

  test('files that were moved away do not hide later records behind the position of a snapshot', async () => {
    const directory = newDirectory();
    const snapshotAt = { segment: 5, offset: 1000 };
    const damage: LogDamage[] = [];
    const log = await openIngestLog({ directory, onDamage: (one) => damage.push(one) });
    assert.deepEqual([...log.read(snapshotAt)], []);
    assert.deepEqual(
      damage.map(({ kind }) => kind),
      ['missing'],
    );
    await log.append(recordOf(1));
    await log.close();
    const again = await openIngestLog({ directory });
    assert.deepEqual(
      [...again.read(snapshotAt)].map(({ record }) => record.receivedAt as number),
      [1],
    );
    await again.close();
  });
});
