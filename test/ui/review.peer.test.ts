import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { review } from '../../src/app/review.ts';
import { epochMs } from '../../src/base/units.ts';
import { planOf } from '../../src/sim/drill/drill-run.ts';
import { DRILL_EPOCH, rehearse } from '../../src/sim/drill/rehearse.ts';
import { zoneDrift } from '../../src/sim/scenarios/zones.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { registerPages } from '../../src/ui/register.ts';
import { launchChromium, PHONE, screenshotFolder, seriousViolations, watchedPage } from '../e2e/browser.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries } from '../support/fake-queries.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const SCREENS = [
  { name: 'desk', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'desk, dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  { name: 'smallest phone', viewport: PHONE, colorScheme: 'light' },
] as const;

/** The month of zone-drift, reviewed. */
function reviewOfDrift() {
  const rules = shippedRules();
  const store = createMemoryStore();
  const { plan } = planOf(zoneDrift, 1);
  const end = epochMs(DRILL_EPOCH + plan.untilMs);
  let finish: () => void = () => undefined;
  rehearse({
    plan,
    rules,
    flavor: 'canonical',
    store,
    onEngine(engine) {
      finish = () => engine.evaluator.tick(epochMs(end + 900_000));
    },
  });
  finish();
  const none = { list: () => [] };
  const { detectors, scorecard: standard } = rules;
  const deps = { store, noiseMarks: none, followUps: none, detectors, standard };
  return review(deps, '2026-W13', epochMs(end + 86_400_000));
}

async function serve(t: TestContext): Promise<string> {
  const made = reviewOfDrift();
  const queries = createFakeQueries({ review: () => made });
  const pages = { queries, commands: createFakeCommands().commands };
  const app = await startApi(t, { ...pages, registerPages: (server) => registerPages(server, pages) });
  return app.listen({ host: '127.0.0.1', port: 0 });
}

test('the skew of the month is on the first screen of the review, and nothing is wider than it', async (t) => {
  const base = await serve(t);
  const browser = await launchChromium();
  t.after(() => browser.close());
  const folder = screenshotFolder();
  for (const { name, viewport, colorScheme } of SCREENS) {
    const { page, foreign, faults } = await watchedPage(browser, base, { viewport, colorScheme });
    await page.goto(`${base}/review/2026-W13`);
    const task = page.locator('.todo li').first();
    const text = (await task.textContent()) ?? '';
    assert.match(text, /cluster app, zone a/, name);
    assert.match(text, /more by (1\.[89]|2\.[012]) % a week/, name);
    const title = await task.locator('strong').boundingBox();
    assert.ok(title !== null && title.y + title.height <= viewport.height, `${name}: ${JSON.stringify(title)}`);
    const whole = await task.boundingBox();
    const isSmall = viewport === PHONE;
    assert.ok(isSmall || (whole !== null && whole.y + whole.height <= viewport.height), JSON.stringify(whole));
    const width = (await page.evaluate('document.documentElement.scrollWidth')) as number;
    assert.ok(width <= viewport.width, `${name}: ${width} wide`);
    assert.deepEqual(await seriousViolations(page), [], name);
    assert.deepEqual([...foreign, ...faults], [], name);
    await page.screenshot({ path: `${folder}/${name.replace(/\W+/g, '-')}.png` });
    await page.context().close();
  }
  t.diagnostic(folder);
});

test('it is read and left for other weeks without a script', async (t) => {
  const base = await serve(t);
  const browser = await launchChromium();
  t.after(() => browser.close());
  const { page, faults } = await watchedPage(browser, base, { viewport: PHONE, javaScriptEnabled: false });
  await page.goto(`${base}/review`);
  await page.locator('summary').first().click();
  assert.ok(await page.locator('details[open] table').first().isVisible());
  await page.locator('a[rel="prev"]').click();
  assert.match(page.url(), /\/review\/2026-W12$/);
  assert.deepEqual(faults, []);
});
