import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { effectiveRoutes } from '../../src/correlate/route.ts';
import type { Receiver, Route } from '../../src/model/receiver.ts';

const receiverOf = (name: string): Receiver => ({
  name,
  type: 'webhook',
  url: 'http://127.0.0.1:9/',
  secret: null,
  sendResolved: true,
});

describe('routes in force', () => {
  const names = (receivers: readonly string[], heartbeat: string | null, routes: readonly Route[] = []): string[] =>
    effectiveRoutes(routes, receivers.map(receiverOf), heartbeat).map(({ receiver }) => receiver);

  test('without any, everything goes to the first receiver', () => {
    assert.deepEqual(names(['a', 'b'], null), ['a']);
    assert.deepEqual(names([], null), []);
  });

  test('but not to the one of the heartbeat while there is another', () => {
    assert.deepEqual(names(['watch', 'oncall', 'queue'], 'watch'), ['oncall']);
    assert.deepEqual(names(['oncall', 'watch'], 'watch'), ['oncall']);
    assert.deepEqual(names(['oncall'], 'oncall'), ['oncall']);
  });

  test('what is written stands, also for the one of the heartbeat', () => {
    assert.deepEqual(names(['watch', 'oncall'], 'watch', [{ receiver: 'watch', severity: [], matchers: [] }]), [
      'watch',
    ]);
  });
});
