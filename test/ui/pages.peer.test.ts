import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { IncidentView, Page as ListPage } from '../../src/model/views.ts';
import { eventually, type LiveService, Pusher, ServiceDirectory } from '../support/live-service.ts';
import { availabilitySlo } from '../support/replay-file.ts';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const TIERS = `policies:
  quick:
    confidence: null
    tiers:
      - { name: 10d, severity: page, exhaustsWithin: 10d, long: 1m, short: 20s, minBurn: full, minBadEvents: 0 }
`;

describe('the pages in Chromium, without JavaScript', () => {
  let directory: ServiceDirectory;
  let service: LiveService;
  let browser: Browser;
  let page: Page;
  const foreign: string[] = [];

  before(async () => {
    directory = new ServiceDirectory({
      rules: { 'slos/checkout.yaml': availabilitySlo('quick'), 'tiers.yaml': TIERS },
    });
    service = await directory.start();
    const pusher = new Pusher();
    await eventually('an incident', 40_000, async () => {
      await service.push(pusher.body({ '2xx': 50, '5xx': 10 }, '<script>alert(1)</script>'));
      const { items } = await service.json<ListPage<IncidentView>>('/api/v1/incidents?state=active');
      return items[0];
    });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
    page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url('/'))) foreign.push(request.url());
    });
  });

  after(async () => {
    await browser.close();
    await service.stop();
    directory.remove();
  });

  const open = async (path: string): Promise<string> => {
    const answer = await page.goto(service.url(path));
    assert.equal(answer?.status(), 200, path);
    return (await page.locator('main').textContent()) ?? '';
  };

  test('the first page names the incident, its severity in words, the time left and the runbook', async () => {
    const text = await open('/');
    assert.match(text, /Error budget of checkout-availability burns/);
    assert.match(text, /page/);
    assert.match(text, /budget gone in|exhausted/);
    assert.match(text, /Runbook ErrorBudgetBurn/);
  });

  test('an incident is acknowledged by its form, by keyboard', async () => {
    await open('/incidents/1');
    await page.getByLabel('Your name').first().focus();
    await page.keyboard.type('ada');
    await page.keyboard.press('Enter');
    await page.waitForURL(/message=/);
    const text = (await page.locator('main').textContent()) ?? '';
    assert.match(text, /acknowledged/);
    assert.match(text, /by ada/);
  });

  test('every page fits a narrow phone, has one heading and comes from us alone', async () => {
    for (const path of [
      '/',
      '/incidents/1',
      '/slos',
      '/fleet',
      '/silences',
      '/runbooks',
      '/runbooks/ErrorBudgetBurn',
    ]) {
      await open(path);
      assert.equal(await page.locator('h1').count(), 1, path);
      const overflow = await page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth);
      assert.ok(overflow <= 0, `${path} is ${overflow} px too wide`);
    }
    assert.deepEqual(foreign, []);
  });

  test('what a balancer sends is shown, never run', async () => {
    assert.match(await open('/slos'), /<script>alert\(1\)<\/script>/);
    assert.equal(await page.locator('main script').count(), 0);
  });

  test('an SLO that nobody feeds says so in words, and no budget stands at 100 %', async () => {
    const text = await open('/slos');
    assert.match(text, /measured/);
    assert.doesNotMatch(text, /100 %/);
  });
});
