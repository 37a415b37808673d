import { setTimeout as sleep } from 'node:timers/promises';
import { epochMs, ms } from '../../src/base/units.ts';
import { ALERT } from '../../src/model/conventions.ts';
import { DRILL_EPOCH } from '../../src/sim/drill/rehearse.ts';
import { type Firing, type Scrapes, timedText } from './drill-scrapes.ts';
import { lastingPort } from './free-port.ts';
import { ServiceDirectory } from './live-service.ts';
import { VirtualService } from './virtual-service.ts';

const STEP_MS = 10_000;
const FOREIGN_AT_MS = 10 * 60_000;
const UNTIL_MS = 32 * 60_000;

/**
 * The service with a receiver that nobody listens at, in virtual time: an alert of another system has to be told, and is
 * not, so that NotificationsFailing fires. The Watchdog's runbook is read at the same moment.
 */
export async function scrapeOwnFailure(): Promise<Scrapes> {
  const url = `http://127.0.0.1:${await lastingPort()}/`;
  const directory = new ServiceDirectory({
    rules: { 'detectors.yaml': 'Watchdog: { receiver: deadman }\n' },
    config: `receivers:\n${['oncall', 'deadman'].map((name) => `  - { name: ${name}, type: webhook, url: "${url}" }\n`).join('')}`,
  });
  try {
    const service = await VirtualService.start(directory, DRILL_EPOCH);
    service.afterTick = () => sleep(2);
    const texts: string[] = [];
    for (let now = STEP_MS; now <= UNTIL_MS; now += STEP_MS) {
      const at = epochMs(DRILL_EPOCH + now);
      await service.advanceTo(at);
      if (now === FOREIGN_AT_MS) await postAlert(service);
      texts.push(timedText(await service.text('/metrics'), at));
    }
    const readAt = service.now;
    const { items } = await service.json<{ items: { name: string; matchedLabels: Record<string, string> }[] }>(
      '/api/v1/alerts',
    );
    const firings = new Map<string, Firing>();
    for (const name of [ALERT.notificationsFailing, ALERT.watchdog]) {
      const labels = items.find((alert) => alert.name === ALERT.notificationsFailing)?.matchedLabels;
      if (labels !== undefined) firings.set(name, { labels, readAt });
    }
    await service.stop();
    return { text: `${texts.join('')}# EOF\n`, firings };
  } finally {
    directory.remove();
  }
}

async function postAlert(service: VirtualService): Promise<void> {
  const body = [
    {
      labels: { alertname: 'InstanceDown', cluster: 'checkout', severity: 'page' },
      startsAt: new Date(service.now).toISOString(),
      endsAt: new Date(service.now + ms(3_600_000)).toISOString(),
    },
  ];
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(service.url('/api/v2/alerts'), { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`the alert was answered ${answer.status}`);
}
