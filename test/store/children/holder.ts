import { openDataDirectory } from '../../../src/store/data-directory.ts';

/** Tries to take the data directory in argv[2]; says how it went and, if it has it, holds it until it is killed. */
try {
  openDataDirectory(process.argv[2] ?? '');
  process.stdout.write(`held by ${process.pid}\n`);
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`${(error as { code?: string }).code}: ${(error as Error).message}\n`);
}
