import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, Pusher, ServiceDirectory, startHook } from '../support/live-service.ts';
import { availabilitySlo } from '../support/replay-file.ts';

const TIERS = `policies:
  quick:
    confidence: null
    tiers:
      - { name: 10d, severity: page, exhaustsWithin: 10d, long: 1m, short: 20s, minBurn: full, minBadEvents: 0 }
`;

describe('a receiver that refuses', () => {
  test('is told of by an alert of its own to the others, and at /metrics', async (context) => {
    const refuses = await startHook(() => 401);
    const takes = await startHook(() => 200);
    const directory = new ServiceDirectory({
      rules: {
        'slos/checkout.yaml': availabilitySlo('quick'),
        'tiers.yaml': TIERS,
        'routes.yaml': 'routes: [{ receiver: oncall }, { receiver: chat }]\n',
      },
      config: `receivers:
  - { name: oncall, type: webhook, url: "${refuses.url}", secret: not-to-be-seen }
  - { name: chat, type: webhook, url: "${takes.url}" }
`,
    });
    const service = await directory.start();
    context.after(async () => {
      await service.stop();
      await Promise.all([refuses.close(), takes.close()]);
      directory.remove();
    });
    const pusher = new Pusher();
    await service.push(pusher.body({ '2xx': 100, '5xx': 0 }));
    type Body = { lead: { name: string; labels: Record<string, string>; evidence: { text: string }[] } };
    // What is judged ends with the last full step of what was pushed.
    const body = await eventually('the alert on oncall', 120_000, async () => {
      await sleep(1000);
      await service.push(pusher.body({ '2xx': 50, '5xx': 50 }));
      return (takes.bodies as unknown as Body[]).find(({ lead }) => lead.name === 'NotificationsFailing') ?? null;
    });
    assert.equal(body.lead.labels['receiver'], 'oncall');
    assert.match(body.lead.evidence.map(({ text }) => text).join(), /answered 401/);
    const metrics = await (await fetch(service.url('/metrics'))).text();
    assert.match(metrics, /^slowburn_receiver_failing\{receiver="oncall"\} 1$/m);
    assert.match(metrics, /^slowburn_receiver_failing\{receiver="chat"\} 0$/m);
    assert.doesNotMatch(service.stderr, /not-to-be-seen/);
  });
});
