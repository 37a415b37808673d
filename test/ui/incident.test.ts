import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { IncidentDetailView, Queries } from '../../src/model/views.ts';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { FAKE_HISTORY, FAKE_SKEW, FAKE_STAGES } from '../support/fake-history.ts';
import { createFakeCommands, createFakeQueries, FAKE_INCIDENTS } from '../support/fake-queries.ts';

const RUNBOOK = `# HostEjections

## Meaning

Hosts were ejected.

## First minutes

1. Which hosts are out? See [meaning](#meaning).

   \`\`\`sh
   curl -s {slowburn}/api/v1/incidents/{incident} # {cluster} {zone}
   \`\`\`
`;

async function start(t: TestContext, over: Partial<Queries> = {}) {
  const queries = createFakeQueries({ runbook: () => RUNBOOK, ...over });
  const fake = createFakeCommands();
  const app = await startApi(t, {
    queries,
    commands: fake.commands,
    baseUrl: () => 'http://sb:8080',
    registerPages: (server, runbook) => registerPages(server, { queries, commands: fake.commands, runbook }),
  });
  const open = async (path = '/incidents/41'): Promise<string> => {
    const { statusCode, body } = await app.inject(path);
    assert.equal(statusCode, 200, path);
    assert.doesNotMatch(body, /NaN|undefined|Infinity|\[object/);
    assert.doesNotMatch(body, / style=| on[a-z]+=["']/, 'the policy allows neither');
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.deepEqual(ids, [...new Set(ids)], 'each id once');
    return body;
  };
  return { app, open, ...fake };
}

/** The incident, with one thing changed about it. */
const incidentWith = (over: Partial<IncidentDetailView>): Partial<Queries> => ({
  incident: () => ({ ...(FAKE_INCIDENTS[0] as IncidentDetailView), ...over }),
});

describe('the page of an incident', () => {
  test('answers how bad, until when, who leads and what first, before anything else', async (t) => {
    const { open } = await start(t);
    const page = await open();
    const answers = page.slice(page.indexOf('<dl class="answers">'), page.indexOf('<nav aria-label="Parts'));
    assert.match(answers, /<strong>1 in 9\.4<\/strong> missed “Checkout answers without server errors” since/);
    assert.match(answers, /14,835\.25 of 140,000, 28 % of the whole budget\. 21\.7 % of the budget is left\./);
    assert.match(answers, /Where: cluster checkout\./);
    assert.match(
      answers,
      /gone in 31 h \(27 to 36 h\)<\/strong>, at about <time datetime="2026-03-02T10:42:10\.000Z">/,
    );
    assert.match(answers, /<strong>HostEjections<\/strong> \(service\): Host 10\.0\.3\.7 of checkout was ejected/);
    assert.match(answers, /Which hosts are out\? See meaning\. <a href="#runbook">Runbook HostEjections<\/a>/);
  });

  test('carries the runbook filled in: first minutes open, the rest folded, ids and links of its own', async (t) => {
    const { open } = await start(t);
    const page = await open();
    assert.match(page, /curl -s http:\/\/sb:8080\/api\/v1\/incidents\/41 # checkout <mark/);
    assert.match(page, /<h3 id="runbook-first-minutes">/);
    assert.match(page, /<li id="runbook-first-minutes-step-1">/);
    assert.match(page, /<a href="#runbook-meaning">meaning<\/a>/);
    const folded = page.slice(page.indexOf('<summary>The rest of the runbook</summary>'));
    assert.match(folded, /<h3 id="runbook-meaning">/);
    assert.doesNotMatch(folded, /<h3 id="runbook-first-minutes">/);
  });

  test('marks on the map what it names, and tells the same in a table', async (t) => {
    const lead = (FAKE_INCIDENTS[0] as IncidentDetailView).lead;
    const named = { ...lead, matchedLabels: { ...lead.matchedLabels, host: '10.0.3.7', zone: 'b' } };
    const { open } = await start(
      t,
      incidentWith({ members: [{ alert: named, joinedAt: lead.since, resolvedAt: null, reason: 'first alert' }] }),
    );
    const page = await open();
    assert.match(page, /<figure class="zone named"><figcaption><strong>Zone b<\/strong>, named/);
    assert.match(page, /aria-label="1 host; named: 10\.0\.3\.7; 1 failing"/);
    assert.match(page, /<rect class="spot failing named"[^>]*><title>host 10\.0\.3\.7: named, fails 1 %<\/title>/);
    assert.match(page, /<circle class="spot silent"[^>]*><title>balancer haproxy &lt;b&gt;: silent<\/title>/);
    assert.match(
      page,
      /<th scope="row">10\.0\.3\.7<\/th><td>host<\/td><td>b<\/td><td>checkout<\/td><td>named, fails 1 %/,
    );
  });

  test('has stages beside the hour before, skew and config versions of its time', async (t) => {
    const asked: unknown[] = [];
    const { open } = await start(t, {
      stages(scope) {
        asked.push(scope);
        const factor = scope.from === '2026-03-01T02:59:40.000Z' ? 3 : 1;
        const stages = FAKE_STAGES.stages.map((one) => ({
          ...one,
          p99: one.p99 === null ? null : one.p99 * (one.stage === 'backend' ? factor : 1),
        }));
        return { ...FAKE_STAGES, stages };
      },
      skew(scope) {
        asked.push(scope);
        return FAKE_SKEW;
      },
    });
    const page = await open();
    const scope = { cluster: 'checkout', zone: null, balancer: null };
    assert.deepEqual(asked, [
      { ...scope, from: '2026-03-01T01:59:40.000Z', to: '2026-03-01T02:59:40.000Z' },
      { ...scope, from: '2026-03-01T02:59:40.000Z', to: null },
      { ...scope, from: '2026-03-01T01:59:40.000Z', to: null },
      { by: 'host', cluster: 'checkout', seconds: 2550, until: null },
    ]);
    assert.match(page, /Most grew backend: p99 500 ms before, 1\.5 s during\./);
    assert.match(page, /<th scope="row">write<\/th><td><span class="state no_data">not reported/);
    assert.match(page, /10\.0\.3\.7 carries 2\.10x the mean/);
    assert.match(page, /v 2\/b came in the hour before it began, or since\./);
    assert.match(page, /43 min after it began <strong>▲ near<\/strong>/);
  });

  test('one that is over counts down no more, and old ones say that stages are gone', async (t) => {
    const { open } = await start(t);
    const page = await open('/incidents/40');
    assert.match(page, /<dt>Until when<\/dt><dd>It is over\./);
    assert.match(page, /<dt>How bad<\/dt><dd>No error budget burns/);
    const old = { openedAt: '2026-01-01T00:00:00.000Z', resolvedAt: '2026-01-01T01:00:00.000Z' };
    const later = await start(t, incidentWith({ state: 'resolved', ...old }));
    assert.match(await later.open(), /Stages of that time are not kept any more/);
  });

  test('stands when nothing is known: no history, no fleet, no runbook of ours', async (t) => {
    const { open } = await start(t, {
      runbook: () => null,
      stages: () => null,
      red: () => null,
      skew: () => null,
      sloHistory: () => null,
      fleet: () => [],
      configVersions: () => [],
    });
    const page = await open();
    assert.match(
      page,
      /It eats the budget of “Checkout answers without server errors”\. 21\.7 % of the budget is left\./,
    );
    assert.match(page, /Open the <a href="http:\/\/127\.0\.0\.1:8080\/runbooks\/HostEjections">/);
    assert.match(page, /Nothing of the fleet is heard now\./);
    assert.match(page, /No balancer tells its config version\./);
  });

  test('counts whole when bad events are few, and says nothing of a share of none', async (t) => {
    const points = FAKE_HISTORY.points.map((point) => ({ ...point, bad: 0, total: 0 }));
    const { open } = await start(t, { sloHistory: () => ({ ...FAKE_HISTORY, points }) });
    assert.match(await open(), /14,835 missed “Checkout answers without server errors” since/);
  });

  test('is snoozed for so long from now, by a form', async (t) => {
    const { app, acted } = await start(t);
    const post = (fields: Readonly<Record<string, string>>) =>
      app.inject({
        method: 'POST',
        url: '/incidents/41/snooze',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      });
    await post({ duration: '30m', by: 'ada', note: 'deploy' });
    assert.deepEqual(acted, [
      { incident: 41, kind: 'snooze', by: 'ada', note: 'deploy', until: '2026-03-01T04:12:10.000Z' },
    ]);
    assert.match(String((await post({ duration: 'long', by: 'ada' })).headers.location), /write%2030m/);
    assert.equal(acted.length, 1);
  });
});
