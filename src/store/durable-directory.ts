import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Makes a directory and what lies above it, names made durable: a file synced in it cannot vanish with it. */
export function makeDirectory(path: string): void {
  const topmost = mkdirSync(path, { recursive: true });
  if (topmost === undefined) return;
  const last = dirname(resolve(topmost));
  for (let at = dirname(resolve(path)); ; at = dirname(at)) {
    syncDirectorySync(at);
    if (at === last || at === dirname(at)) return;
  }
}

/** Makes the names in a directory durable: a file's own sync covers its contents only. */
export function syncDirectorySync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** As syncDirectorySync, without holding up the event loop. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
