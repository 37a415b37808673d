import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { IncidentView, Page as ListPage, SloView } from '../../src/model/views.ts';
import {
  DESK,
  DESK_SCREEN,
  type Faults,
  launchChromium,
  overflowOf,
  PHONE,
  PHONE_SCREEN,
  screenshotFolder,
  seriousViolations,
  watchedPage,
} from './browser.ts';
import { DemoStage } from './demo-stage.ts';

const MINUTE = 60_000;
/** One failure is long over, another one is going on. */
const UNTIL = 28 * MINUTE;
const LIVE_UNTIL = 36 * MINUTE;

describe('every page and action, on a service that a fleet in trouble pushes to', () => {
  let stage: DemoStage;
  let browser: Browser;
  let views: readonly string[] = [];
  const folder = screenshotFolder();
  const base = (): string => stage.service.url('');

  const incidents = async (state: string): Promise<readonly IncidentView[]> =>
    (await stage.service.json<ListPage<IncidentView>>(`/api/v1/incidents?state=${state}`)).items;

  before(async () => {
    stage = await DemoStage.start(UNTIL);
    browser = await launchChromium();
    const [open] = await incidents('active');
    const slos = (await stage.service.json<ListPage<SloView>>('/api/v1/slos')).items;
    const slo = slos.find(({ groups }) => groups.some(({ bad }) => bad > 0));
    assert.ok(open !== undefined && slo !== undefined, 'nothing is open, or no budget was spent');
    const [over] = await incidents('resolved');
    assert.ok(over !== undefined, 'nothing is over');
    const id = encodeURIComponent(slo.id);
    const [from, to] = [60, 55].map((ago) => new Date(stage.service.now - ago * MINUTE).toISOString());
    const made = await fetch(stage.service.url('/api/v1/corrections'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ slos: [slo.id], reason: 'an accident of others', from, to }),
    });
    assert.equal(made.status, 200, await made.text());
    views = [
      '/',
      `/incidents/${open.id}`,
      `/incidents/${over.id}`,
      '/slos',
      '/slos?sort=burn&order=desc&state=measured',
      `/slos/${id}`,
      `/slos/${id}?range=6h`,
      '/stages',
      '/stages?zone=a&range=15m',
      '/traffic',
      '/traffic?by=host&skew=zone&range=5m',
      '/traffic?by=configVersion&skew=balancer',
      '/traffic?skew=zone&weeks=5',
      '/fleet',
      '/compare',
      '/silences',
      '/corrections',
      '/corrections/1',
      '/actions',
      '/runbooks',
      `/runbooks/${open.runbook}`,
    ];
  });

  after(async () => {
    await browser?.close();
    await stage?.stop();
  });

  const nameOf = (path: string): string => path.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '') || 'now';

  /** Opens each view and looks at it; what is wrong with any of them. */
  async function look(watched: Faults, kind: string, check: (path: string) => Promise<readonly string[]>) {
    const wrong: string[] = [];
    for (const path of views) {
      const answer = await watched.page.goto(`${base()}${path}`);
      if (answer?.status() !== 200) wrong.push(`${path}: ${answer?.status()}`);
      if ((await watched.page.locator('h1').count()) !== 1) wrong.push(`${path}: not one h1`);
      wrong.push(...(await check(path)).map((what) => `${path}: ${what}`));
      await watched.page.screenshot({ path: join(folder, `${kind}-${nameOf(path)}.png`), fullPage: true });
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(watched.foreign, [], 'requests that leave the service');
    assert.deepEqual(watched.faults, [], 'violations of the policy, errors, refused requests');
    await watched.page.context().close();
  }

  test('with scripts: nothing serious for axe-core, no violation of the policy, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const watched = await watchedPage(browser, base(), { viewport: DESK, colorScheme });
      await look(watched, colorScheme, () => seriousViolations(watched.page));
    }
  });

  test('without scripts, on a narrow phone: all of it is there and nothing runs over the side', async () => {
    const watched = await watchedPage(browser, base(), { viewport: PHONE, javaScriptEnabled: false });
    await look(watched, 'phone', async () => {
      const overflow = await overflowOf(watched.page);
      return overflow > 0 ? [`${overflow} px too wide`] : [];
    });
  });

  for (const [name, viewport] of [
    ['a desk', DESK_SCREEN],
    ['a phone', PHONE_SCREEN],
  ] as const) {
    test(`the first screen of an incident on ${name} says how bad, until when, who leads and what first`, async () => {
      const watched = await watchedPage(browser, base(), { viewport, timezoneId: 'Asia/Kolkata', locale: 'en-GB' });
      const { page } = watched;
      const [open] = (await incidents('active')).filter(({ severity }) => severity === 'page');
      assert.ok(open !== undefined, 'no page is open');
      await page.goto(`${base()}/incidents/${open.id}`);
      for (const question of ['How bad', 'Until when', 'Who leads', 'Do first']) {
        const answer = page.locator('.answers > div', { hasText: question });
        const box = await answer.boundingBox();
        assert.ok(box !== null && box.y + box.height <= viewport.height, `${question} ends at ${box?.y} + ${box?.height}`);
      }
      const answers = (await page.locator('.answers').textContent()) ?? '';
      assert.match(answers, /1 in [\d.]+ missed “[^”]+” since .* UTC \(.*GMT\+5:30\)/);
      assert.match(answers, /Budget (gone in \d+ \w+ \(.*\), at about|exhausted)/);
      await page.getByRole('link', { name: `Runbook ${open.runbook}` }).first().click();
      assert.match(page.url(), /#runbook$/);
      assert.ok(await page.locator('#runbook-first-minutes').isVisible());
      assert.match((await page.locator('.runbook').textContent()) ?? '', new RegExp(`/api/v1/incidents/${open.id}|app-0`));
      assert.equal(await page.locator('.zone svg').count(), await page.locator('.zone').count());
      assert.ok((await page.locator('.spot.named').count()) > 0, 'nothing is marked on the map');
      assert.equal(await overflowOf(page), 0);
      await page.screenshot({ path: join(folder, `first-screen-${viewport.width}.png`) });
      assert.deepEqual(watched.faults, []);
      await page.context().close();
    });
  }

  test('a chart shows the figures of its table, and what no balancer tells is said', async () => {
    const watched = await watchedPage(browser, base(), { viewport: DESK, javaScriptEnabled: false });
    await watched.page.goto(`${base()}/stages`);
    const text = (await watched.page.locator('main').textContent()) ?? '';
    assert.match(text, /backend/);
    assert.match(text, /exact/);
    const charts = await watched.page.locator('figure.chart svg').count();
    assert.ok(charts >= 1);
    assert.equal(await watched.page.locator('details.figures').count(), charts);
    const label = (await watched.page.locator('figure.chart svg').first().getAttribute('aria-label')) ?? '';
    const last = /last (\S+ \S+)$/.exec(label)?.[1] ?? 'no last value';
    const cells = await watched.page.locator('details.figures').first().locator('tbody tr').first().textContent();
    assert.ok(cells?.includes(last), `${last} is not in ${cells}`);
    await watched.page.context().close();
  });

  test('by keyboard alone: skip link, every link and button has a visible focus, a list is sorted', async () => {
    const { page } = await watchedPage(browser, base(), { viewport: DESK });
    await page.goto(`${base()}/slos?sort=left`);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press('Tab');
      const focused = (await page.evaluate(`(() => { const one = document.activeElement;
        return { text: one.textContent.trim(), outline: getComputedStyle(one).outlineStyle, tag: one.tagName }; })()`)) as {
        readonly text: string;
        readonly outline: string;
        readonly tag: string;
      };
      assert.notEqual(focused.outline, 'none', `${focused.tag} ${focused.text} shows no focus`);
      if (focused.text !== 'Burn 1h') continue;
      await page.keyboard.press('Enter');
      await page.waitForURL(/sort=burn/);
      assert.equal(await page.locator('th[aria-sort]').textContent(), 'Burn 1h ▲');
      await page.goBack();
      assert.match(page.url(), /sort=left/);
      await page.context().close();
      return;
    }
    assert.fail('the head of the column was not reached');
  });

  for (const javaScriptEnabled of [false, true]) {
    test(`every action works ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const { page, faults } = await watchedPage(browser, base(), { viewport: DESK, javaScriptEnabled });
      const main = async (): Promise<string> => (await page.locator('main').textContent()) ?? '';
      const [open] = (await incidents('active')).filter(({ state }) => state === 'open');
      assert.ok(open !== undefined, 'no incident is open');
      const form = (action: string) => page.locator(`form[action="/incidents/${open.id}/${action}"]`);
      const act = async (action: string, button: string, note: string): Promise<void> => {
        await page.goto(`${base()}/incidents/${open.id}`);
        const folded = page.locator('details', { has: form(action) });
        if ((await folded.count()) > 0) await folded.locator('summary').click();
        await form(action).getByLabel('Your name').fill('ada');
        await form(action).getByLabel('Note').fill(note);
        await form(action).getByRole('button', { name: button }).click();
        await page.waitForURL(/message=/);
        assert.match(await main(), /Done: /, `${button}: ${page.url()}`);
      };
      await act('acknowledge', 'Acknowledge', 'on it');
      assert.match(await main(), /by ada/);
      await act('acknowledge', 'Add note', 'app-0 looks odd');
      await act('acknowledge', 'Customers told', 'we are looking at it');
      await act('acknowledge', 'Give back', '');
      assert.match(await main(), /by nobody/);
      await act('snooze', 'Snooze', 'a known deploy');
      assert.match(await main(), /Snoozed until/);

      await page.goto(`${base()}/incidents/${open.id}`);
      const todo = form('actions');
      await todo.getByLabel('What is to be done').fill('alert earlier');
      await todo.getByLabel('By whom').fill('edge');
      await todo.getByLabel('Until').fill('2030-01-31');
      await todo.getByLabel('Your name').fill('ada');
      await todo.getByRole('button', { name: 'Add action' }).click();
      await page.waitForURL(/message=/);
      await page.goto(`${base()}/actions`);
      await page.locator('main form').first().getByLabel('Your name').fill('ada');
      await page.getByRole('button', { name: 'Done' }).first().click();
      await page.waitForURL(/message=/);
      assert.match(await main(), /is done/);
      await page.locator('summary', { hasText: 'done' }).click();
      await page.locator('details form').first().getByLabel('Your name').fill('ada');
      await page.getByRole('button', { name: 'Not done after all' }).first().click();
      await page.waitForURL(/open%20again/);

      await page.goto(`${base()}/silences?matchers=${encodeURIComponent('alertname=NoSuchAlert')}`);
      await page.getByLabel('Your name').fill('ada');
      await page.getByRole('button', { name: 'Preview' }).click();
      assert.match(await main(), /It would mute/);
      await page.getByRole('button', { name: 'Silence', exact: true }).click();
      await page.waitForURL(/message=/);
      assert.match(await main(), /Done: silence/);
      await page.getByRole('button', { name: 'End now' }).first().click();
      await page.waitForURL(/message=.*ended/);

      await act('resolve', 'Resolve', 'boxes left open: it is a rehearsal');
      assert.match(await main(), /resolved/);
      await act('acknowledge', 'Reopen', 'not over after all');
      assert.doesNotMatch((await page.locator('.lede').first().textContent()) ?? '', /resolved/);
      assert.deepEqual(faults, []);
      await page.context().close();
    });
  }

  for (const javaScriptEnabled of [false, true]) {
    test(`a time is left out of a budget and counted again ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const { page, faults } = await watchedPage(browser, base(), { viewport: DESK, javaScriptEnabled });
      const main = async (): Promise<string> => (await page.locator('main').textContent()) ?? '';
      await page.goto(`${base()}/corrections`);
      const slo = (await page.getByLabel('Which SLO').locator('option').allTextContents())[1] ?? '';
      await page.getByLabel('Which SLO').selectOption(slo);
      const at = (ago: number): string => new Date(stage.service.now - ago * MINUTE).toISOString().slice(0, 16);
      await page.getByLabel('From (UTC)').fill(at(20));
      await page.getByLabel('To (UTC)').fill(at(-60));
      await page.getByLabel('Reason').fill('the collector lied');
      await page.getByLabel('Your name').fill('ada');
      await page.getByRole('button', { name: 'Preview' }).click();
      assert.match(await main(), /It would do this/);
      assert.equal(await page.getByLabel('Reason').inputValue(), 'the collector lied');
      await page.getByRole('button', { name: 'Leave it out' }).click();
      await page.waitForURL(/\/corrections\/\d+\?message=Done/);
      assert.match(await main(), /active/);
      for (const [action, button, then] of [
        ['end', 'End now', /ended/],
        ['undo', 'Undo', /Undone .* by ada: over/],
      ] as const) {
        const form = page.locator(`form[action$="/${action}"]`);
        await form.getByLabel(/why/).fill('over');
        await form.getByLabel('Your name').fill('ada');
        await form.getByRole('button', { name: button }).click();
        await page.waitForURL(action === 'end' ? /ended/ : /undone/);
        assert.match(await main(), then);
      }
      await page.goto(`${base()}/corrections`);
      assert.match(await main(), /undone/);
      assert.deepEqual(faults, []);
      await page.context().close();
    });
  }

  test('alerts are split off and put together again', async () => {
    const { page } = await watchedPage(browser, base(), { viewport: DESK, javaScriptEnabled: false });
    const lists = await Promise.all(
      (await incidents('active')).map(({ id }) =>
        stage.service.json<{ id: number; members: unknown[] }>(`/api/v1/incidents/${id}`),
      ),
    );
    const many = lists.find(({ members }) => members.length > 1);
    assert.ok(many !== undefined, 'no incident has two alerts');
    await page.goto(`${base()}/incidents/${many.id}`);
    await page.locator('summary', { hasText: 'Wrongly grouped?' }).click();
    const split = page.locator(`form[action="/incidents/${many.id}/split"]`);
    await split.locator('input[type=checkbox]').last().check();
    await split.getByLabel('Your name').fill('ada');
    await split.getByLabel('Why').fill('another matter');
    await split.getByRole('button', { name: 'Split off' }).click();
    await page.waitForURL(/message=Done/);
    const [newest] = await incidents('active');
    assert.ok(newest !== undefined && newest.id > many.id);
    await page.goto(`${base()}/incidents/${newest.id}`);
    await page.locator('summary', { hasText: 'Wrongly grouped?' }).click();
    const merge = page.locator(`form[action="/incidents/${newest.id}/merge"]`);
    await merge.getByLabel('All of it belongs to incident').fill(String(many.id));
    await merge.getByLabel('Your name').fill('ada');
    await merge.getByRole('button', { name: 'Merge' }).click();
    await page.waitForURL(/message=Done/);
    await page.context().close();
  });

  test('with scripts, what is open renews itself when something changes, and without a reload', async () => {
    const { page, faults } = await watchedPage(browser, base(), { viewport: DESK });
    await page.goto(base());
    await page.evaluate('window.isSamePage = true');
    const version = await page.locator('[data-live]').getAttribute('data-live');
    await stage.advanceTo(LIVE_UNTIL);
    await page.waitForFunction(`document.querySelector('[data-live]').dataset.live !== ${JSON.stringify(version)}`);
    assert.equal(await page.evaluate('window.isSamePage'), true);
    const shown = (await page.locator('[data-incident]').all()).length;
    assert.equal(shown, (await incidents('active')).length);
    assert.deepEqual(faults, []);
    await page.context().close();
  });

  test('a reader elsewhere sees the own time beside UTC', async () => {
    const { page } = await watchedPage(browser, base(), {
      viewport: DESK,
      timezoneId: 'Asia/Kolkata',
      locale: 'en-GB',
    });
    await page.goto(`${base()}/fleet`);
    assert.match((await page.locator('main time').first().textContent()) ?? '', /UTC \(.*GMT\+5:30\)$/);
    await page.context().close();
  });

  test('the screenshots are written', () => {
    process.stdout.write(`# screenshots: ${folder}\n`);
    assert.ok(views.length >= 21);
  });
});
