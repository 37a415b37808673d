import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadRules } from '../../src/config/load.ts';
import { createFolder, PACKAGE, SHIPPED } from '../config/fixture.ts';
import { withMadeParts } from './receivers-document.ts';

const DOCUMENT = readFileSync(join(PACKAGE, 'docs/receivers.md'), 'utf8');

describe('docs/receivers.md', () => {
  test('shows the messages as they are sent (node --import tsx test/docs/write-receivers.ts writes them anew)', () => {
    assert.equal(DOCUMENT, withMadeParts(DOCUMENT));
  });

  test('shows receivers that load', () => {
    const examples = [...DOCUMENT.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);
    const types = new Set<string>();
    for (const text of examples) {
      const folder = createFolder().write({ 'rules/routes.yaml': text, k: 'secret', p: 'secret' });
      try {
        const { rules, problems } = loadRules({
          rulesDir: folder.path('rules'),
          shippedDir: SHIPPED,
          runbooksDir: join(PACKAGE, 'runbooks'),
          env: {
            HOOK_KEY: 'key',
            PAGERDUTY_KEY: 'key',
            SLACK_TOKEN: 'xoxb-1',
            SLACK_URL: 'https://hooks.slack.com/services/x',
            SMTP_PASSWORD: 'x',
          },
        });
        assert.deepEqual(problems, []);
        for (const { type } of rules?.receivers ?? []) types.add(type);
      } finally {
        folder.remove();
      }
    }
    assert.deepEqual([...types].sort(), [
      'alertmanager',
      'alertmanager-webhook',
      'email',
      'pagerduty',
      'slack',
      'webhook',
    ]);
  });
});
