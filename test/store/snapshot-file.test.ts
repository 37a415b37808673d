import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadNewestSnapshot, saveSnapshot } from '../../src/store/snapshot-file.ts';

const root = mkdtempSync(join(tmpdir(), 'slowburn-snapshot-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
function newDirectory(): string {
  count += 1;
  return join(root, String(count), 'snapshots');
}
const at = (offset: number) => ({ segment: 3, offset });
const save = (directory: string, offset: number) =>
  saveSnapshot(directory, { position: at(offset), state: { cells: new Float64Array([offset]) } });
const snapshots = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith('.snapshot'))
    .sort();

function flipLastBit(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

describe('snapshots', () => {
  test('saving says up to where the log may go: to the older of the two that are kept', () => {
    const directory = newDirectory();
    assert.deepEqual(save(directory, 10), { segment: 0, offset: 0 }, 'the whole log stands in for a damaged first one');
    assert.deepEqual(save(directory, 20), at(10));
    assert.deepEqual(save(directory, 30), at(20));
    assert.equal(snapshots(directory).length, 2);
    assert.deepEqual(loadNewestSnapshot(directory), { position: at(30), state: { cells: new Float64Array([30]) } });
  });

  test('a damaged one is named, set aside, and does not push a good one out', () => {
    const directory = newDirectory();
    save(directory, 10);
    save(directory, 20);
    flipLastBit(join(directory, snapshots(directory).at(-1) ?? ''));
    const damaged: string[] = [];
    assert.deepEqual(loadNewestSnapshot(directory, (file) => damaged.push(file))?.position, at(10));
    assert.equal(damaged.length, 1);
    save(directory, 30);
    flipLastBit(join(directory, snapshots(directory).at(-1) ?? ''));
    assert.deepEqual(loadNewestSnapshot(directory)?.position, at(10));
  });

  test('none, and only damaged ones, are none', () => {
    const directory = newDirectory();
    assert.equal(loadNewestSnapshot(directory), null);
    save(directory, 10);
    flipLastBit(join(directory, snapshots(directory)[0] ?? ''));
    assert.equal(loadNewestSnapshot(directory), null);
  });

  test('a directory that takes no files is told as something to try again, and the older snapshot stays', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    assert.throws(() => save(file, 10), { code: 'STORE_UNWRITABLE', retryable: true });
  });
});
