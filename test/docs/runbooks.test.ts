import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { renderRunbook } from '../../src/api/runbook-page.ts';
import { ALERT } from '../../src/model/conventions.ts';
import { DASHBOARD, dashboardOf } from '../../src/model/dashboards.ts';
import { BLANKS } from '../../src/model/runbook-blanks.ts';
import { firstStep } from '../../src/model/runbook-step.ts';
import { SCENARIOS } from '../../src/sim/scenarios/catalog.ts';
import { STANDARD_SEED } from '../../src/sim/scenarios/scenario.ts';
import { startApi } from '../support/api-server.ts';
import { partOf, proseOf, RUNBOOKS_DIR, type ShippedRunbook, shippedRunbooks } from '../support/runbooks.ts';
import { RUNBOOK_HEADINGS } from '../support/tidy.ts';

const ROOT = join(RUNBOOKS_DIR, '..');
const RUNBOOKS = shippedRunbooks();
const ALERTS = Object.values<string>(ALERT);
const SCREEN_LINES_MAX = 40;
const STEP_LINES_MAX = 20;
/** Nothing that happens to a fleet makes these fire; their last section says how they are rehearsed. */
const OUTSIDE_FLEETS: readonly string[] = [ALERT.watchdog, ALERT.notificationsFailing];
const detectors = parse(readFileSync(join(ROOT, 'rules/detectors.yaml'), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, unknown>>>
>;
/** Names of evidence, as the sources write them. */
const EVIDENCE = new Set(
  readdirSync(join(ROOT, 'src/detect'))
    .map((file) => readFileSync(join(ROOT, 'src/detect', file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/\b[a-z][a-z0-9_]+\b/g)].map(([word]) => word)),
);

/** Scenarios that are missed unless the alert leads their incident, or takes part in it. */
const drillsOf = (alert: string): readonly string[] =>
  SCENARIOS.filter((scenario) => {
    const { expected } = scenario.plan(scenario.size, STANDARD_SEED);
    return expected.kind === 'incident' && [expected.lead, ...expected.members].includes(alert);
  })
    .map(({ name }) => name)
    .sort();

test('each alert has its runbook, and each runbook its alert', () => {
  assert.deepEqual(
    RUNBOOKS.map(({ name }) => name),
    [...ALERTS].sort(),
  );
});

describe('a runbook', () => {
  for (const runbook of RUNBOOKS) test(runbook.name, (t) => checkRunbook(runbook, (text) => t.diagnostic(text)));
});

function checkRunbook(runbook: ShippedRunbook, tell: (text: string) => void): void {
  const { name, markdown } = runbook;
  assert.ok(markdown.startsWith(`# ${name}\n\n| | |\n`), 'begins with its table');
  const headings = [...markdown.matchAll(/^#{2,} .*$/gm)].map(([line]) => line);
  assert.deepEqual(headings, RUNBOOK_HEADINGS, 'ten parts with the table, in order, and no others');
  for (const heading of RUNBOOK_HEADINGS) assert.ok(partOf(markdown, heading).length > 40, `${heading} says something`);
  checkFirstScreen(runbook, tell);
  checkFacts(runbook);
  checkLinks(runbook);
  checkSteps(runbook);
  checkNames(runbook);
}

/** Table, meaning, whether it is real, and the first minutes are what a phone shows in three strokes. */
function checkFirstScreen({ markdown }: ShippedRunbook, tell: (text: string) => void): void {
  const toDecide = markdown.slice(0, markdown.indexOf('\n## Decide'));
  const lines = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length;
  const steps = lines(partOf(markdown, '## First minutes'));
  tell(`${lines(toDecide)} lines to the decision, ${steps} of them steps`);
  assert.ok(lines(toDecide) <= SCREEN_LINES_MAX, `${lines(toDecide)} lines to the decision`);
  assert.ok(steps <= STEP_LINES_MAX, `${steps} lines of first minutes`);
  const meaning = partOf(markdown, '## Meaning');
  assert.ok(meaning.length < 420, `the meaning takes ${meaning.length} characters`);
}

function checkFacts({ name, facts, drills }: ShippedRunbook): void {
  assert.deepEqual([...facts.keys()], ['severity', 'told', 'SLO', 'rule', 'dashboard', 'drill', 'last reviewed']);
  const place = dashboardOf(name);
  assert.equal(facts.get('dashboard'), `[${place.title}](../dashboards/${place.uid}.json)`);
  assert.match(facts.get('last reviewed') ?? '', /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual(drills, drillsOf(name), 'names the drills that ask for it');
  if (OUTSIDE_FLEETS.includes(name)) assert.match(facts.get('drill') ?? '', /last section/);
  else assert.ok(drills.length > 0);
  const settings = detectors[name];
  if (settings === undefined) assert.match(facts.get('rule') ?? '', /tiers\.yaml/);
  else {
    assert.equal(facts.get('rule'), `[detectors.yaml](../rules/detectors.yaml), \`${name}\``);
    assert.ok((facts.get('severity') ?? '').includes(name === ALERT.watchdog ? 'none' : String(settings['severity'])));
    assert.equal(settings['runbook'], name);
  }
}

function checkLinks({ name, markdown }: ShippedRunbook): void {
  for (const [, target = ''] of proseOf(markdown).matchAll(/\]\(([^)]+)\)/g)) {
    const [file = '', anchor] = target.split('#');
    assert.ok(existsSync(join(RUNBOOKS_DIR, file)), `${target} is there`);
    assert.notEqual(file, `${name}.md`, 'leads away');
    if (anchor === undefined) continue;
    const { body } = renderRunbook('X', readFileSync(join(RUNBOOKS_DIR, file), 'utf8'));
    assert.ok(body.includes(` id="${anchor}"`), target);
  }
  const related = partOf(markdown, '## Why this threshold');
  assert.match(related, /Related: .*\]\(\w+\.md\)/, 'names related alerts');
}

/** The step that messages link to is there, in words; each mitigation says how to undo it. */
function checkSteps({ name, markdown }: ShippedRunbook): void {
  const step = firstStep(markdown);
  assert.equal(step?.anchor, 'first-minutes-step-1');
  assert.match(renderRunbook(name, markdown).body, /<li id="first-minutes-step-1">/);
  assert.doesNotMatch(step?.text ?? '{', /\{/, 'told without blanks');
  const steps = partOf(markdown, '## Mitigate').split(/^(?=\d\. )/m);
  if (name !== ALERT.notificationsFailing) {
    for (const one of steps) assert.match(one, /Undo: |as in step 1|^\d\. Repair the automation/, one);
  }
  const silencing = partOf(markdown, '## False positives and silencing');
  const [, matcher, duration] =
    /`slowburn silence add alertname=(\w+).* --for (\d+[mhd]) --comment "/.exec(silencing) ?? [];
  if (OUTSIDE_FLEETS.includes(name)) return;
  assert.equal(matcher, name, 'says how to silence it');
  assert.ok(duration !== undefined);
}

/** Alerts, evidence, thresholds, blanks that are named exist. */
function checkNames({ name, markdown, blocks }: ShippedRunbook): void {
  for (const [, word = ''] of markdown.matchAll(/\bname == "(\w+)"/g)) assert.equal(word, name);
  for (const [, word = ''] of markdown.matchAll(/[Ee]vidence `(\w+)`/g))
    assert.ok(EVIDENCE.has(word), `evidence ${word}`);
  for (const [, key = '', value] of markdown.matchAll(/`([a-z]\w+): ([\w.-]+)`/g)) {
    const set = detectors[name]?.[key];
    if (set !== undefined) assert.equal(String(value), String(set), `${key} as in detectors.yaml`);
  }
  for (const [, blank = ''] of proseOf(markdown).matchAll(/\{([a-z_]+)\}/g)) assert.fail(`{${blank}} in prose`);
  for (const { language, text, line } of blocks) {
    assert.ok(['promql', 'sh'].includes(language), `a language at line ${line}`);
    if (language !== 'promql') continue;
    for (const [, blank = ''] of text.matchAll(/"\{([^}]*)\}"/g)) assert.ok(Object.hasOwn(BLANKS, blank), blank);
    assert.doesNotMatch(text.replace(/"\{\w+\}"/g, ''), /=~|\{[a-z_]+\}/, 'blanks only as whole strings');
  }
}

test('what runbooks ask of slowburn, it answers', async (t) => {
  const app = await startApi(t);
  const { paths } = (await app.inject('/api/openapi.json')).json<{ paths: Record<string, unknown> }>();
  const known = Object.keys(paths).map((path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`));
  let asked = 0;
  for (const { name, markdown } of RUNBOOKS) {
    for (const [, path = ''] of markdown.matchAll(/\{slowburn\}(\/[^\s;?'"`]*)/g)) {
      asked += 1;
      assert.ok(
        known.some((one) => one.test(path)),
        `${name}: ${path}`,
      );
    }
    for (const [, command = ''] of markdown.matchAll(/`?slowburn (drill|silence add|check|incidents list)\b/g))
      asked += command.length;
    assert.doesNotMatch(markdown, /`slowburn (?!drill|silence|check|incidents)/, name);
  }
  assert.ok(asked > 30);
});

test('each dashboard has its file, and leads to alerts that have a runbook', () => {
  for (const { uid, alerts } of Object.values(DASHBOARD)) {
    assert.ok(existsSync(join(ROOT, 'dashboards', `${uid}.json`)), uid);
    for (const alert of alerts) assert.ok(ALERTS.includes(alert));
  }
  const led = Object.values(DASHBOARD).flatMap(({ alerts }) => [...alerts]);
  assert.deepEqual([...led].sort(), [...ALERTS].sort(), 'each alert to one');
});

test('queries use the metrics and labels of docs/metrics.md alone', () => {
  const documented = documentedMetrics();
  assert.ok(documented.size > 60);
  for (const { name, blocks } of RUNBOOKS) {
    const queries = blocks.filter(({ language }) => language === 'promql');
    assert.ok(queries.length > 0, `${name} has a query`);
    for (const { text } of queries) checkMetrics(name, text, documented);
  }
  assert.throws(() => checkMetrics('planted', 'sum(lb_planted_total)', documented));
  assert.throws(() => checkMetrics('planted', 'sum(lb_requests_total{lb_planted="x"})', documented));
});

function checkMetrics(name: string, query: string, documented: ReadonlyMap<string, ReadonlySet<string>>): void {
  const used = [...query.matchAll(/\b((?:lb|http|slowburn|nodejs)_[a-z0-9_]+)(?:\{([^}]*"[^}]*)\})?/g)];
  for (const [, word = '', selector = ''] of used) {
    const metric = word.replace(/_bucket$/, '');
    const labels = documented.get(metric);
    if (labels === undefined) {
      assert.ok(isLabel(word, documented), `${name}: ${word} is not in docs/metrics.md`);
      continue;
    }
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=|!)/g)) {
      assert.ok(labels.has(label), `${name}: ${metric} has no label ${label}`);
    }
  }
}

const isLabel = (word: string, documented: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  [...documented.values()].some((labels) => labels.has(word));

function documentedMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const text = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');
  return new Map(
    [...text.matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\|/gm)].map(([, metric = '', type, labels = '']) => [
      metric,
      new Set([...labels.split(',').map((label) => label.trim()), ...(type === 'histogram' ? ['le'] : [])]),
    ]),
  );
}
