import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { renderRunbook } from '../../src/api/runbook-page.ts';
import { startApi } from '../support/api-server.ts';
import { FAKE_RUNBOOKS } from '../support/fake-queries.ts';

describe('/runbooks', () => {
  const cases: readonly [name: string, url: string, accept: string | undefined, type: string][] = [
    ['a browser gets a page', '/runbooks/HostEjections', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
    ['curl gets a page', '/runbooks/HostEjections', '*/*', 'text/html'],
    ['without Accept: a page', '/runbooks/HostEjections', undefined, 'text/html'],
    ['who asks for Markdown gets it', '/runbooks/HostEjections', 'text/markdown', 'text/markdown'],
    ['Markdown among others', '/runbooks/HostEjections', 'text/plain, Text/Markdown;q=0.9', 'text/markdown'],
    ['Markdown refused', '/runbooks/HostEjections', 'text/markdown;q=0, text/html', 'text/html'],
    ['the suffix asks for Markdown', '/runbooks/HostEjections.md', 'text/html', 'text/markdown'],
  ];
  for (const [name, url, accept, type] of cases) {
    test(name, async (t) => {
      const app = await startApi(t);
      const answer = await app.inject({ url, headers: accept === undefined ? {} : { accept } });
      assert.equal(answer.headers['content-type'], `${type}; charset=utf-8`);
      assert.equal(answer.headers['vary'], 'accept');
      if (type === 'text/markdown') assert.equal(answer.body, FAKE_RUNBOOKS['HostEjections']);
      else assert.match(answer.body, /<h1>HostEjections<\/h1>[\s\S]*<h2 id="diagnosis">Diagnosis<\/h2>/);
    });
  }

  test('pages can frame a runbook in their own way', async (t) => {
    const app = await startApi(t, { runbookPage: ({ name, title, body }) => `<x>${name}|${title}|${body}</x>` });
    const { body } = await app.inject('/runbooks/HostEjections');
    assert.match(body, /^<x>HostEjections\|HostEjections\|<h2 id="diagnosis">/);
  });
});

describe('/runbooks of an incident', () => {
  test('has the values of the alert that it is the runbook of, and nothing else of the request', async (t) => {
    const { createFakeQueries, FAKE_INCIDENTS } = await import('../support/fake-queries.ts');
    const [detail] = FAKE_INCIDENTS;
    assert.ok(detail !== undefined);
    const lead = { ...detail.lead, runbook: 'A', matchedLabels: { cluster: 'app', host: 'h1' } };
    const [member] = detail.members;
    assert.ok(member !== undefined);
    const other = {
      ...lead,
      key: 'B',
      name: 'B',
      runbook: 'B',
      matchedLabels: { cluster: 'other' },
      labels: { slo: 's1' },
    };
    const members = [
      { ...member, alert: lead },
      { ...member, alert: other },
    ];
    const queries = createFakeQueries({
      runbook: () => '# A\n\n`x {slowburn} {incident} {cluster} {host} {slo} {zone}`\n',
      incident: (id) => (id === 7 ? { ...detail, id: 7, lead, members } : null),
    });
    const app = await startApi(t, { queries, baseUrl: () => 'http://here:8080' });
    const code = async (url: string): Promise<string> =>
      (/<code>(.*)<\/code>/.exec((await app.inject(url)).body)?.[1] ?? '').replace(/<[^>]+>/g, '');
    assert.equal(await code('/runbooks/A?incident=7'), 'x http://here:8080 7 app h1 s1 {zone}');
    assert.equal(await code('/runbooks/B?incident=7'), 'x http://here:8080 7 other {host} s1 {zone}');
    assert.equal(await code('/runbooks/C?incident=7'), 'x http://here:8080 7 app h1 s1 {zone}');
    const blank = 'x http://here:8080 {incident} {cluster} {host} {slo} {zone}';
    assert.equal(await code('/runbooks/A?incident=8'), blank);
    assert.equal(await code('/runbooks/A?cluster=evil'), blank);
    assert.equal((await app.inject('/runbooks/A?incident=x')).statusCode, 400);
  });
});

describe('a rendered runbook', () => {
  const body = (markdown: string): string => renderRunbook('X', markdown).body;

  test('shows markup instead of obeying it', () => {
    const hostile = [
      '<script>alert(1)</script>',
      'a <img src=x onerror=alert(1)> b',
      '`<b>`',
      '```html\n<iframe src="//evil"></iframe>\n```',
      '| <i>a</i> |\n|---|\n| <i>b</i> |',
      '![x" onerror="alert(1)](javascript:alert(1))',
      '## <svg onload=alert(1)>',
      '<pre>\n\na <img src=x onerror=alert(1) //',
      'x <pre>y <img src=x onerror=alert(1) //',
      '1. <b>x</b>\n\n   <i>y</i>\n2. z',
      '[a](https://x.example/"onclick="alert(1))',
      '[a](</x" onclick="y>)',
    ];
    for (const markdown of hostile) {
      assert.doesNotMatch(body(markdown), /<(script|img|iframe|svg|i|b)[\s>]|"\s*on\w+=/i, markdown);
    }
  });

  test('its title is escaped where it is framed', async (t) => {
    const { createFakeQueries } = await import('../support/fake-queries.ts');
    const queries = createFakeQueries({ runbook: () => '# A <script>x</script>\n' });
    const app = await startApi(t, { queries });
    assert.ok(!(await app.inject('/runbooks/A')).body.includes('<script>'));
  });

  for (const target of ['javascript:alert(1)', 'JAVASCRIPT:x', 'data:text/html,x', '//evil.example', 'vbscript:x']) {
    test(`loses a link to ${target}`, () => {
      assert.equal(body(`[go](${target})`), '<p>go</p>\n');
    });
  }
  for (const [target, href] of [
    ['https://x.example/a?b=1', 'https://x.example/a?b=1'],
    ['mailto:a@x.example', 'mailto:a@x.example'],
    ['#diagnosis', '#diagnosis'],
    ['/fleet', '/fleet'],
    ['HostEjections.md', '/runbooks/HostEjections'],
    ['./HostEjections.md#step', '/runbooks/HostEjections#step'],
  ] as const) {
    test(`keeps a link to ${target} as ${href}`, () => {
      assert.equal(body(`[go](${target})`), `<p><a href="${href}">go</a></p>\n`);
    });
  }

  test('takes its title from the first heading, and its name without one', () => {
    assert.deepEqual(renderRunbook('X', '\n# A & B\n\ntext'), { name: 'X', title: 'A & B', body: '<p>text</p>\n' });
    assert.deepEqual(renderRunbook('X', 'text\n\n# A'), {
      name: 'X',
      title: 'X',
      body: '<p>text</p>\n<h1 id="a">A</h1>\n',
    });
    assert.deepEqual(renderRunbook('X', ''), { name: 'X', title: 'X', body: '' });
  });

  test('is filled in for what it is opened for; no value becomes markup', () => {
    const values = { cluster: '<b>&"app', host: '10.0.0.1' };
    const occasion = { values, incident: 41, grafanaUrl: 'https://g.example' };
    const of = (markdown: string): string => renderRunbook('X', markdown, occasion).body;
    const text =
      '**{cluster}** `curl {host} {zone}`\n\n```promql\nx{a="{cluster}"}\n```\n\n1. a\n\n   {cluster} *{cluster}*\n2. b';
    const rendered = of(text);
    assert.doesNotMatch(rendered, /<b>/);
    assert.match(rendered, /<strong>&lt;b&gt;&amp;&quot;app<\/strong> <code>curl 10\.0\.0\.1 <mark/);
    assert.match(rendered, /x\{a=&quot;&lt;b&gt;&amp;\\&quot;app&quot;\}/);
    assert.match(rendered, /<p>&lt;b&gt;&amp;&quot;app <em>&lt;b&gt;&amp;&quot;app<\/em><\/p>/);
    assert.match(rendered, /<mark title="zone that the alert names">\{zone\}<\/mark>/);
    assert.match(rendered, /filled in for <a href="\/incidents\/41">/);
    assert.match(rendered, /Left for you to fill in[\s\S]*\{zone\}<\/mark> zone that/);
    assert.match(of('[a](Other.md#b)'), /href="\/runbooks\/Other\?incident=41#b"/);
    assert.match(of('[a](../dashboards/slowburn-tls.json)'), /href="https:\/\/g\.example\/d\/slowburn-tls\//);
    assert.equal(of('[a](../rules/detectors.yaml)'), '<p>a</p>\n');
    assert.equal(body('[a](../dashboards/slowburn-tls.json)'), '<p>a</p>\n');
  });

  test('numbers headings of one text', () => {
    assert.match(body('## Step 1: drain!\n## Step 1: drain!'), /id="step-1-drain"[\s\S]*id="step-1-drain-1"/);
  });

  test('each shipped runbook renders with its headings and without a lost link', () => {
    const folder = join(import.meta.dirname, '../../runbooks');
    const files = readdirSync(folder).filter((file) => file.endsWith('.md'));
    assert.ok(files.length > 0);
    const occasion = { values: {}, incident: null, grafanaUrl: 'https://g.example' };
    for (const file of files) {
      const markdown = readFileSync(join(folder, file), 'utf8');
      const { title, body: rendered } = renderRunbook(file.slice(0, -3), markdown, occasion);
      assert.ok(markdown.includes(`# ${title}\n`), file);
      const links =
        markdown.replace(/```[\s\S]*?```|`[^`\n]*`/g, '').match(/\[[^\]]+\]\((?!\.\.\/rules)[^)]+\)/g) ?? [];
      assert.equal((rendered.match(/<a href=/g) ?? []).length >= links.length, true, file);
    }
  });
});
