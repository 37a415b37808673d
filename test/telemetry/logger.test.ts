import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../src/base/app-error.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

function capture(level: string, isTTY: boolean) {
  const lines: string[] = [];
  const output = { isTTY, write: (text: string) => lines.push(text) };
  return { logger: createLogger({ level, output }), lines };
}

describe('the log', () => {
  test('is one JSON object a line where no person reads along', () => {
    const { logger, lines } = capture('info', false);
    logger.info({ incident: 41 }, 'incident 41 opened');
    logger.debug('not asked for');
    assert.equal(lines.length, 1);
    const line = lines[0] ?? '';
    assert.ok(line.endsWith('\n'));
    const { time, ...rest } = JSON.parse(line) as { time: string };
    assert.deepEqual(rest, { level: 'info', incident: 41, msg: 'incident 41 opened' });
    assert.match(time, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  });

  test('is short lines on a terminal, with the stack of an error below', () => {
    const { logger, lines } = capture('debug', true);
    logger.warn({ incident: 41, tier: null }, 'incident 41 opened');
    logger.error({ err: new AppError('STORE_UNWRITABLE', 'disk full') }, 'tick failed');
    assert.match(lines[0] ?? '', /^\d{2}:\d{2}:\d{2}\.\d{3} WARN {2}incident 41 opened incident=41 tier=null\n$/);
    assert.match(lines[1] ?? '', /^\S+ ERROR tick failed\nAppError: disk full\n {4}at /);
  });

  test('silent says nothing', () => {
    const { logger, lines } = capture('silent', false);
    logger.fatal('x');
    assert.deepEqual(lines, []);
  });

  for (const isTTY of [true, false]) {
    test(`never tells a secret (${isTTY ? 'terminal' : 'JSON'})`, () => {
      const { logger, lines } = capture('info', isTTY);
      const secret = 'hunter2';
      logger.info({ receiver: { name: 'oncall', secret } }, 'a');
      logger.info({ config: { receivers: { first: { secret } }, tokens: [{ name: 'ana', value: secret }] } }, 'b');
      logger.info({ tokens: [{ value: secret }], req: { headers: { authorization: secret, cookie: secret } } }, 'c');
      logger.info({ token: secret, password: secret }, 'd');
      assert.equal(lines.length, 4);
      assert.ok(!lines.join('').includes(secret));
      assert.ok(lines.every((line) => line.includes('[redacted]')));
    });
  }
});
