import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import type { IngestRecord } from '../../src/store/ingest-log.ts';
import { encodeRecord } from '../../src/store/log-record.ts';
import { type LogDamage, openIngestLog, type SegmentLogOptions } from '../../src/store/segment-log.ts';
import { loadNewestSnapshot, saveSnapshot } from '../../src/store/snapshot-file.ts';

const root = mkdtempSync(join(tmpdir(), 'slowburn-faults-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
function newDirectory(): string {
  count += 1;
  const path = join(root, String(count));
  mkdirSync(path);
  return path;
}

const recordOf = (number: number, body: Uint8Array = new Uint8Array(30).fill(number)): IngestRecord => ({
  receivedAt: epochMs(1_800_000_000_000 + number),
  transport: 'http',
  encoding: 'protobuf',
  compression: 'none',
  peer: '10.0.0.1',
  identityHeader: null,
  body,
});
const NAME = 'ingest-0000000000.log';

/** Opens a directory whose only segment has these bytes; the numbers of the records read, and the damage told. */
async function readBytes(bytes: Uint8Array): Promise<{ numbers: number[]; damage: LogDamage[] }> {
  const directory = newDirectory();
  writeFileSync(join(directory, NAME), bytes);
  const damage: LogDamage[] = [];
  const log = await openIngestLog({ directory, onDamage: (one) => damage.push(one) });
  const numbers = [...log.read(null)].map(({ record }) => record.receivedAt - 1_800_000_000_000);
  await log.close();
  return { numbers, damage };
}

/** An opener whose files answer writes and syncs as told. */
function failing(fault: (handle: FileHandle) => void): NonNullable<SegmentLogOptions['openFile']> {
  return async (path) => {
    const handle = await open(path, 'a');
    fault(handle);
    return handle;
  };
}

describe('damage in the middle of the segment that is written next', () => {
  const five = [0, 1, 2, 3, 4].map((number) => encodeRecord(recordOf(number)));
  const whole = Buffer.concat(five);
  const size = five[0]?.length ?? 0;

  test('one flipped bit anywhere costs its own record at most, or is at the length, and the rest is kept', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: size - 1 }), fc.nat({ max: 7 }), async (byte, bit) => {
        const bytes = Buffer.from(whole);
        bytes[2 * size + byte] = (bytes[2 * size + byte] ?? 0) ^ (1 << bit);
        const isLength = byte >= 4 && byte < 8;
        const { numbers, damage } = await readBytes(bytes);
        assert.ok(damage.length > 0, 'it is reported');
        if (isLength && numbers.length === 2) return;
        assert.deepEqual(numbers, [0, 1, 3, 4]);
        assert.deepEqual(damage, [{ segment: 0, offset: 2 * size, bytes: size, kind: 'corrupt' }]);
      }),
      { seed: 31, numRuns: 150 },
    );
  });

  test('what is appended behind it is read back, and so is the rest of the segment', async () => {
    const directory = newDirectory();
    const bytes = Buffer.from(whole);
    bytes[size + 20] = (bytes[size + 20] ?? 0) ^ 1;
    writeFileSync(join(directory, NAME), bytes);
    const log = await openIngestLog({ directory });
    await log.append(recordOf(9));
    const numbers = [...log.read(null)].map(({ record }) => record.receivedAt - 1_800_000_000_000);
    assert.deepEqual(numbers, [0, 2, 3, 4, 9]);
    await log.close();
  });

  test('a record inside the body of a torn one is not taken for a record', async () => {
    const bytes = encodeRecord(recordOf(1, encodeRecord(recordOf(66))));
    const { numbers, damage } = await readBytes(Buffer.concat([five[0] ?? bytes, bytes.subarray(0, -1)]));
    assert.deepEqual(numbers, [0]);
    assert.deepEqual(damage, [{ segment: 0, offset: size, bytes: bytes.length - 1, kind: 'torn_tail' }]);
  });

  test('a tail of zeros, as a power loss leaves it, is cut', async () => {
    const { numbers, damage } = await readBytes(Buffer.concat([whole, Buffer.alloc(5000)]));
    assert.deepEqual(
      [numbers, damage.map(({ kind, bytes }) => [kind, bytes])],
      [[0, 1, 2, 3, 4], [['torn_tail', 5000]]],
    );
  });
});

describe('a disk that takes only a part', () => {
  test('a short write is refused to its sender, and only that', async () => {
    const directory = newDirectory();
    let isShort = false;
    const openFile = failing((handle) => {
      const writev = handle.writev.bind(handle);
      handle.writev = async (buffers, position) => {
        if (!isShort) return writev(buffers, position);
        const { bytesWritten } = await handle.write(Buffer.from('SBR1 part'));
        return { bytesWritten, buffers };
      };
    });
    const log = await openIngestLog({ directory, openFile });
    await log.append(recordOf(1));
    isShort = true;
    await assert.rejects(log.append(recordOf(2)), { code: 'STORE_UNWRITABLE', retryable: true });
    assert.equal(log.writable(), false);
    await log.close();
    const again = await openIngestLog({ directory });
    await again.append(recordOf(3));
    const numbers = [...again.read(null)].map(({ record }) => record.receivedAt - 1_800_000_000_000);
    assert.deepEqual(numbers, [1, 3]);
    await again.close();
  });

  test('every append of a batch whose sync fails is refused, and none is acknowledged', async () => {
    const directory = newDirectory();
    const openFile = failing((handle) => {
      handle.datasync = () => Promise.reject(new Error('EIO'));
    });
    const log = await openIngestLog({ directory, openFile });
    const results = await Promise.allSettled([1, 2, 3, 4].map((number) => log.append(recordOf(number))));
    assert.deepEqual(
      results.map((result) => (result.status === 'rejected' ? (result.reason as { code: string }).code : 'kept')),
      Array(4).fill('STORE_UNWRITABLE'),
    );
    await log.close();
    await assert.rejects(log.append(recordOf(5)), { code: 'STORE_UNWRITABLE' });
  });
});

describe('processes that die', () => {
  test('a snapshot whose writing was cut off leaves the one before in force', () => {
    const directory = newDirectory();
    saveSnapshot(directory, { position: { segment: 0, offset: 1 }, state: 'first' });
    const [file = ''] = readdirSync(directory);
    const bytes = readFileSync(join(directory, file));
    for (let keep = 0; keep < bytes.length; keep += 1) {
      writeFileSync(join(directory, 'writing.tmp'), bytes.subarray(0, keep));
      writeFileSync(join(directory, 'state-000000000002.snapshot'), bytes.subarray(0, keep));
      assert.equal(loadNewestSnapshot(directory)?.state, 'first', `${keep} bytes`);
    }
  });
});
