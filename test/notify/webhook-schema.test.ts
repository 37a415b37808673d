import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { epochMs, ms } from '../../src/base/units.ts';
import { toHeartbeatMessage } from '../../src/notify/watchdog/message.ts';
import { toWebhookBundle } from '../../src/notify/webhook/message.ts';
import { T0 } from '../support/alerts.ts';
import { exampleMessages } from './receiver-examples.ts';

const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/webhook.schema.json'), 'utf8')) as TSchema;
const fits = (value: unknown): boolean => Value.Check(SCHEMA, value);
const payloads = exampleMessages()
  .filter(({ receiver }) => receiver === 'hook')
  .map(({ payload }) => payload);

describe('docs/webhook.schema.json', () => {
  test('holds for what is sent: messages, a bundle, a heartbeat', () => {
    assert.equal(payloads.length, 3);
    for (const payload of payloads) assert.ok(fits(JSON.parse(payload)), payload);
    assert.ok(fits(JSON.parse(toWebhookBundle(payloads, 'bundle-3-x'))));
    const at = epochMs(T0);
    const beat = toHeartbeatMessage(
      { startedAt: at, seq: 1, at, evaluatedAt: at, every: ms(60_000) },
      { runbook: 'http://x/r', dashboard: 'http://x/' },
    );
    assert.ok(fits(JSON.parse(beat)), beat);
  });

  test('does not hold when a field is missing, added or of another kind', () => {
    const [payload = '{}'] = payloads;
    const body = JSON.parse(payload) as Record<string, unknown>;
    for (const key of Object.keys(body)) {
      assert.ok(!fits({ ...body, [key]: undefined }), `without ${key}`);
      assert.ok(!fits({ ...body, [key]: true }), `${key} true`);
    }
    assert.ok(!fits({ ...body, more: 1 }));
    assert.ok(!fits({ ...body, alerts: [{ name: 'x' }] }));
    assert.ok(!fits(JSON.parse(toWebhookBundle(payloads.slice(0, 1), 'b'))));
  });
});
