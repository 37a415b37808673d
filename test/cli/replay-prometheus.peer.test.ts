import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { serving } from '../agreement/prometheus.ts';
import { createFolder, latencyRatio, sloText } from '../config/fixture.ts';
import { runCommand } from '../support/command.ts';
import { availabilitySlo } from '../support/replay-file.ts';

const START_S = Date.UTC(2026, 2, 2) / 1000;
const MINUTES = 200;

/** 600 requests a minute, 15 % errors from minute 120 to 130, a restart at minute 160; a histogram with a bound at 0.25. */
function openMetrics(): string {
  const lines = ['# TYPE lb_requests counter'];
  for (const [responseClass, perMinute] of [
    ['2xx', (minute: number) => (minute >= 120 && minute < 130 ? 510 : 600)],
    ['5xx', (minute: number) => (minute >= 120 && minute < 130 ? 90 : 0)],
  ] as const) {
    const labels = `instance="edge-1:9000",lb_side="downstream",lb_upstream_cluster="checkout",lb_response_class="${responseClass}"`;
    let total = 0;
    for (let minute = 0; minute <= MINUTES; minute += 1) {
      lines.push(`lb_requests_total{${labels}} ${total} ${START_S + minute * 60}`);
      total = (minute === 160 ? 0 : total) + perMinute(minute);
    }
  }
  lines.push('# TYPE http_server_request_duration_seconds histogram');
  for (const [le, perMinute] of [
    ['0.25', 90],
    ['10.0', 100],
    ['+Inf', 100],
  ] as const) {
    for (let minute = 0; minute <= MINUTES; minute += 1) {
      const labels = `instance="edge-1:9000",le="${le}"`;
      lines.push(
        `http_server_request_duration_seconds_bucket{${labels}} ${perMinute * minute} ${START_S + minute * 60}`,
      );
    }
  }
  return `${lines.join('\n')}\n# EOF\n`;
}

interface SloLine {
  readonly type: string;
  readonly at: string;
  readonly state?: string;
  readonly slo?: { readonly id: string; readonly groups: readonly { readonly total: number; readonly bad: number }[] };
}

test('a real Prometheus gives what was written into it', async () => {
  const folder = createFolder().write({
    'samples.om': openMetrics(),
    'rules/slos/checkout.yaml': availabilitySlo('workbook'),
    'rules/slos/quick.yaml': sloText({
      name: 'quick',
      indicator: latencyRatio('0.25'),
      objectives: '[{ target: 0.8 }]',
    }),
    'rules/slos/whole.yaml': sloText({ name: 'whole', indicator: latencyRatio('10'), objectives: '[{ target: 0.8 }]' }),
  });
  try {
    mkdirSync(folder.path('data'));
    const blocks = ['tsdb', 'create-blocks-from', 'openmetrics', folder.path('samples.om'), folder.path('data')];
    await promisify(execFile)('promtool', blocks);
    const times = ['--from', '2026-03-02T00:00:00Z', '--to', '2026-03-02T03:20:00Z'];
    let stdout = '';
    await serving(folder.root, async (url) => {
      const answer = await runCommand(folder.root, ['replay', '--rules', 'rules', '--prometheus', url, ...times]);
      assert.equal(answer.code, 0, answer.stderr);
      stdout = answer.stdout;
    });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SloLine);
    const figures = lines.flatMap(({ slo }) =>
      slo === undefined ? [] : slo.groups.map(({ total, bad }) => [slo.id, total, bad]),
    );
    assert.deepEqual(figures, [
      ['checkout-availability', MINUTES * 600, 900],
      ['quick', MINUTES * 100, MINUTES * 10],
      ['whole', MINUTES * 100, 0],
    ]);
    const [fired] = lines.filter(({ type, state }) => type === 'alert' && state === 'firing');
    // 15 % errors page the workbook after 5.76 minutes; samples come once a minute.
    assert.equal(fired?.at, '2026-03-02T02:06:00.000Z');
  } finally {
    folder.remove();
  }
});
