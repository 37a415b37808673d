import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's; playwright-core brings none and is never asked to fetch one. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const launchChromium = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: ARGS });

export const PHONE = { width: 320, height: 640 };
export const DESK = { width: 1280, height: 900 };
/** What is seen without scrolling. */
export const DESK_SCREEN = { width: 1280, height: 800 };
export const PHONE_SCREEN = { width: 390, height: 844 };

export const screenshotFolder = (): string => mkdtempSync(join(tmpdir(), 'slowburn-e2e-'));

/** What a page does that it must not. */
export interface Faults {
  readonly page: Page;
  /** Requests that go anywhere but to the service. */
  readonly foreign: string[];
  /** Messages of the console about the policy, scripts that fail, answers of 400 and above. */
  readonly faults: string[];
}

const PATIENCE_MS = 120_000;

export async function watchedPage(browser: Browser, base: string, options: BrowserContextOptions): Promise<Faults> {
  const context = await browser.newContext(options);
  // A browser that shares two cores with everything else may take long; how fast a page is, is asked elsewhere.
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const [foreign, faults]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    if (!request.url().startsWith(base)) foreign.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  return { page, foreign, faults };
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core finds serious or critical on the page as it is: rule and the first element. */
export async function seriousViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    readonly violations: readonly Violation[];
  };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

export const overflowOf = (page: Page): Promise<number> =>
  page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth);
