import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withMadeParts } from './receivers-document.ts';

/** Writes the made parts of docs/receivers.md anew: `node --import tsx test/docs/write-receivers.ts`. */
const file = join(import.meta.dirname, '../../docs/receivers.md');
writeFileSync(file, withMadeParts(readFileSync(file, 'utf8')));
