import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createPrng } from '../../src/base/prng.ts';
import { openDataDirectory } from '../../src/store/data-directory.ts';
import { openIngestLog } from '../../src/store/segment-log.ts';
import { outputOf, spawnChild, spawnLimited } from './child.ts';
import { recordOf } from './numbered-record.ts';

const root = mkdtempSync(join(tmpdir(), 'slowburn-crash-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Numbers of the records in a log, after a check that each is whole. */
async function numbersIn(directory: string): Promise<number[]> {
  const log = await openIngestLog({ directory });
  const numbers = [...log.read(null)].map(({ record }) => {
    const { body, ...rest } = recordOf(record.receivedAt);
    assert.deepEqual({ ...record, body: Buffer.from(record.body) }, { ...rest, body: Buffer.from(body) });
    return record.receivedAt as number;
  });
  await log.close();
  return numbers;
}

/** Appends from `first` on until so many are acknowledged, then kill -9. Returns the acknowledged numbers. */
async function appendAndKill(directory: string, first: number, width: number, untilCount: number): Promise<number[]> {
  const child = spawnChild('appender.ts', [directory, String(first), String(width)]);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.split('\n').length > untilCount) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [unknown, string | null];
  assert.equal(signal, 'SIGKILL', output);
  return output.slice(0, output.lastIndexOf('\n')).split('\n').map(Number);
}

describe('a process killed in the middle of appends', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`loses no acknowledged record and leaves none half, five times running on one log, seed ${seed}`, async () => {
      const prng = createPrng(seed);
      const directory = join(root, `log-${seed}`);
      let known = 0;
      for (let kill = 0; kill < 5; kill += 1) {
        const acknowledged = await appendAndKill(directory, known, 1 + prng.below(8), 1 + prng.below(60));
        const numbers = await numbersIn(directory);
        assert.deepEqual(
          numbers,
          numbers.map((_, index) => index),
          'in order, none twice, none missing',
        );
        assert.ok(numbers.length > Math.max(...acknowledged), `${numbers.length} kept of ${acknowledged.at(-1)}`);
        known = numbers.length;
      }
    });
  }
});

describe('two processes and one data directory', () => {
  test('the second is refused by the pid of the first, and has it at once when the first was killed', async () => {
    const directory = join(root, 'held');
    // In the second round the lock file is there already.
    for (let round = 0; round < 2; round += 1) {
      const holder = spawnChild('holder.ts', [directory]);
      const closed = once(holder, 'close');
      try {
        await once(holder.stdout, 'data');
        const refused = await outputOf(spawnChild('holder.ts', [directory]));
        assert.match(refused, new RegExp(`^STORE_DATA_DIR_LOCKED: .*process ${holder.pid}\\b`));
      } finally {
        holder.kill('SIGKILL');
        await closed;
      }
    }
    openDataDirectory(directory).release();
  });
});

describe('a disk that takes no more', () => {
  test('all that the log acknowledged is there, and what it refused is not', async () => {
    const directory = join(root, 'full');
    const output = await outputOf(spawnLimited(256, 'appender.ts', [directory, '0', '4', '100000000']));
    const acknowledged = output.split('\n').filter((line) => /^\d+$/.test(line));
    assert.match(output, /refused STORE_UNWRITABLE/);
    assert.ok(acknowledged.length > 10, output);
    assert.deepEqual(await numbersIn(directory), acknowledged.map(Number));
  });

  test('a commit that does not fit is refused as a whole, as something to try again', async () => {
    const output = await outputOf(spawnLimited(2000, 'committer.ts', [join(root, 'full.sqlite')]));
    const { taken, refusal, keys } = JSON.parse(output) as { taken: number; refusal: string; keys: string[] };
    assert.equal(refusal, 'STORE_UNWRITABLE retryable');
    const expected = Array.from({ length: taken }, (_, number) => [`${number} a`, `${number} b`]).flat();
    assert.deepEqual([...keys].sort(), expected.sort());
    assert.ok(taken > 2);
  });
});
