import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shellBlocks } from './shell-blocks.ts';
import { Terminal } from './terminal.ts';

/**
 * `npm run readme`: does what the README says, on a fresh clone of what is committed, each command copied from it; exit
 * code 1 where one fails, or where the first page takes more than five minutes. Ports 8080, 4318 and 4317 must be free.
 */
const root = join(import.meta.dirname, '..', '..');
const FIRST_PAGE_MS = 5 * 60_000;
/** What the README pushes by hand is judged within a tick. */
const BUDGET_MS = 15_000;
const CLUSTER = 'checkout';

const home = mkdtempSync(join(tmpdir(), 'slowburn-readme-'));
const terminal = new Terminal(home);
const from = performance.now();
const seconds = (): string => ((performance.now() - from) / 1000).toFixed(1);
const say = (text: string): boolean => process.stdout.write(`${seconds().padStart(7)} s  ${text}\n`);

/** The page of budgets tells those of the cluster that was pushed by hand. */
async function budgetShown(address: string): Promise<void> {
  const until = performance.now() + BUDGET_MS;
  while (!(await (await fetch(new URL('slos', address))).text()).includes(CLUSTER)) {
    if (performance.now() > until) throw new Error(`no budget of ${CLUSTER} on ${address}slos`);
    await sleep(500);
  }
  say(`${address}slos shows the budget of ${CLUSTER}`);
}

async function firstPage(address: string): Promise<void> {
  const page = await fetch(address);
  const title = /<title>([^<]*)<\/title>/.exec(await page.text())?.[1];
  if (!page.ok || title === undefined) throw new Error(`${address} answers ${page.status} with no title`);
  say(`${address} is there: "${title}"`);
}

async function main(): Promise<void> {
  const blocks = shellBlocks(readFileSync(join(root, 'README.md'), 'utf8'));
  let address: string | null = null;
  for (const { line, script, stays } of blocks) {
    const text = script.replaceAll('<this repository>', `'${root}'`);
    if (text.trim() !== '') await terminal.run(text);
    say(`README.md:${line}  ${(stays ?? script.split('\n')[0] ?? '').slice(0, 90)}`);
    if (stays !== null) {
      const isFirst = address === null;
      address = await terminal.start(stays, FIRST_PAGE_MS);
      await firstPage(address);
      if (isFirst && performance.now() - from > FIRST_PAGE_MS) throw new Error('the first page took over five minutes');
    } else if (script.includes(CLUSTER) && address !== null) await budgetShown(address);
  }
  if (address === null) throw new Error('the README starts nothing');
}

try {
  await main();
  say('every command of the README did what it says');
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await terminal.stop();
  rmSync(home, { recursive: true, force: true });
}
