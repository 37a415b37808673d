import { openIngestLog } from '../../../src/store/segment-log.ts';
import { recordOf } from '../numbered-record.ts';

/**
 * Appends numbered records to the log in argv[2], from number argv[3] on, argv[4] at a time, until it is killed or the
 * log refuses. Prints each number once it is acknowledged, and `refused CODE` at the end.
 */
const [directory = '', first = '0', width = '1', segmentBytesMax = '100000'] = process.argv.slice(2);
const log = await openIngestLog({ directory, segmentBytesMax: Number(segmentBytesMax) });
let next = Number(first);

async function appendOn(): Promise<void> {
  for (;;) {
    const number = next;
    next += 1;
    await log.append(recordOf(number));
    process.stdout.write(`${number}\n`);
  }
}

try {
  await Promise.all(Array.from({ length: Number(width) }, appendOn));
} catch (error) {
  process.stdout.write(`refused ${(error as { code?: string }).code}\n`);
}
