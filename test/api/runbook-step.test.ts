import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { renderRunbook } from '../../src/api/runbook-page.ts';
import { firstStep } from '../../src/model/runbook-step.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeQueries } from '../support/fake-queries.ts';

const FOLDER = join(import.meta.dirname, '../../runbooks');
const SHIPPED = readdirSync(FOLDER).filter((file) => file.endsWith('.md'));
const textOf = (step: string): string | undefined => firstStep(`# A\n\n## Diagnosis\n\n${step}\n`)?.text;

describe('the first step of a runbook', () => {
  for (const file of SHIPPED) {
    test(`${file}: is told in words, and its page shows it where the link leads`, async (t) => {
      const markdown = readFileSync(join(FOLDER, file), 'utf8');
      const step = firstStep(markdown);
      assert.ok(step !== null && step.text.length > 10);
      assert.doesNotMatch(step.text, /[`[\]]|curl|https?:/);
      const app = await startApi(t, { queries: createFakeQueries({ runbook: () => markdown }) });
      const { statusCode, body } = await app.inject(`/runbooks/${file.slice(0, -3)}#${step.anchor}`);
      assert.equal(statusCode, 200);
      const [, item = ''] = new RegExp(`<li id="${step.anchor}">(?:<p>)?(.*)`).exec(body) ?? [];
      assert.ok(item.startsWith(step.text.slice(0, 20)), item);
      const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length, 'ids are unique');
    });
  }

  test('is found below either heading, and its link leads to that', () => {
    for (const [heading, anchor] of [
      ['First minutes', 'first-minutes-step-1'],
      ['Diagnosis', 'diagnosis-step-1'],
    ]) {
      const markdown = `# A\n\n## ${heading}\n\n1. Drain it.\n`;
      assert.deepEqual(firstStep(markdown), { anchor, text: 'Drain it' });
      assert.match(renderRunbook('A', markdown).body, new RegExp(`<li id="${anchor}">Drain it`));
    }
  });

  const cases: readonly [step: string, text: string | undefined][] = [
    ['1. Drain it.', 'Drain it'],
    ['1. Is it still going on? Read: `curl x` and so on.\n2. Then', 'Is it still going on? Read'],
    ['1. See [Hosts](HostEjections.md), **now**.\n2. b', 'See Hosts, now'],
    ['1. A step\n   over two lines.\n2. b', 'A step over two lines'],
    ['1) Other mark', 'Other mark'],
    ['1. `curl x` first.', 'curl x first'],
    ['- no numbers', undefined],
    ['Only text.', undefined],
    ['### Later\n\n1. Too late', undefined],
    ['```\n1. in a block\n```\n\n1. Real', 'Real'],
  ];
  for (const [step, text] of cases) {
    test(JSON.stringify(step), () => assert.equal(textOf(step), text));
  }

  test('is cut at a length that a phone shows, between words', () => {
    const text = textOf(`1. ${'word '.repeat(60)}`) ?? '';
    assert.ok(text.length <= 145 && text.endsWith('word ...'), text);
  });

  test('a runbook without diagnosis has none', () => {
    assert.equal(firstStep('# A\n\n## Meaning\n\n1. x\n'), null);
    assert.equal(firstStep(''), null);
  });
});

describe('the page of a runbook', () => {
  const body = (markdown: string): string => renderRunbook('X', markdown).body;

  test('gives the steps of the first numbered list below a heading ids, and no others', () => {
    const rendered = body('## Diagnosis\n\n- a\n\n1. x\n   1. inner\n2. y\n\ntext\n\n1. z\n');
    assert.deepEqual(
      [...rendered.matchAll(/<li id="([^"]+)">/g)].map(([, id]) => id),
      ['diagnosis-step-1', 'diagnosis-step-2'],
    );
    assert.match(rendered, /<li id="diagnosis-step-1">x/);
  });

  test('keeps the rest of a list as it was', () => {
    assert.equal(body('3. a\n4. b'), '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n');
    assert.equal(body('- a\n- b'), '<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n');
    assert.equal(body('- a\n\n- b'), '<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n');
  });
});
