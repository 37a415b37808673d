import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startApi } from '../support/api-server.ts';
import { createFakeQueries } from '../support/fake-queries.ts';

const PATIENCE_MS = 60_000;
/** Makes an event large, so that few of them fill what the kernel holds for a reader. */
const FILLING = 'x'.repeat(100_000);

/** The server on a real port, with a version that the test changes. */
async function start(t: TestContext, limits: { readersMax?: number; signOfLifeMs?: number }) {
  const listeners = new Set<() => void>();
  let version = 'v0';
  const queries = createFakeQueries({
    version: () => version,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const app = await startApi(t, { queries, eventLimits: limits });
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  /** A socket that asks for events; what it has read so far is in `text()`. */
  const ask = async (): Promise<{ readonly socket: Socket; text(): string }> => {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    return { socket, text: () => text };
  };
  const change = (to: string): void => {
    version = to;
    for (const listener of [...listeners]) listener();
  };
  return { ask, change, readers: () => listeners.size };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!holds()) {
    assert.ok(Date.now() < end, `${what}: not within ${PATIENCE_MS} ms`);
    await wait(5);
  }
}

describe('the stream of events, over real sockets', () => {
  test('tells at first, after each change, and that it is alive between them', async (t) => {
    const { ask, change } = await start(t, { signOfLifeMs: 20 });
    const reader = await ask();
    await until('the first event', () => reader.text().includes('data: {"version":"v0"}'));
    assert.match(reader.text(), /^HTTP\/1\.1 200 /);
    assert.match(reader.text(), /content-type: text\/event-stream/);
    change('v1');
    await until('the next', () => reader.text().includes('id: v1'));
    await until('a sign of life', () => reader.text().includes(': alive'));
  });

  test('takes so many readers and no more, until one of them leaves', async (t) => {
    const { ask, readers } = await start(t, { readersMax: 2 });
    const [first] = [await ask(), await ask()];
    await until('two readers', () => readers() === 2);
    const third = await ask();
    await until('a refusal', () => third.text().includes('API_UNAVAILABLE'));
    assert.match(third.text(), /^HTTP\/1\.1 503 /);
    assert.match(third.text(), /2 others listen already/);
    assert.equal(readers(), 2);
    first.socket.destroy();
    await until('one has left', () => readers() === 1);
    const fourth = await ask();
    await until('a place', () => fourth.text().includes('id: v0'));
    assert.equal(readers(), 2);
  });

  test('a reader that takes nothing is dropped, while others hear of every change', async (t) => {
    const { ask, change, readers } = await start(t, { signOfLifeMs: 50 });
    const [slow, quick] = [await ask(), await ask()];
    await until('both listen', () => readers() === 2);
    slow.socket.pause();
    for (let count = 0; readers() === 2; count += 1) {
      change(`${count}-${FILLING}`);
      await until('the quick one keeps up', () => quick.text().includes(`id: ${count}-`));
      assert.ok(count < 2000, 'it was never dropped');
    }
    change('last');
    await until('the last change', () => quick.text().includes('id: last'));
    assert.equal(readers(), 1);
  });

  test('one that was slow for a while gets one event for all that it missed', async (t) => {
    const { ask, change, readers } = await start(t, { signOfLifeMs: 60_000 });
    const reader = await ask();
    await until('it listens', () => reader.text().includes('id: v0'));
    reader.socket.pause();
    const changes = 400;
    for (let count = 0; count < changes; count += 1) {
      change(`${count}-${FILLING}`);
      await wait(0);
    }
    change('newest');
    reader.socket.resume();
    await until('the newest', () => reader.text().includes('id: newest'));
    const told = reader.text().match(/^id: \d+-/gm)?.length ?? 0;
    assert.ok(told < changes, `all ${told} changes had been queued`);
    assert.equal(readers(), 1);
  });
});
