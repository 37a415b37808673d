import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createFollowUps } from '../../src/app/follow-ups.ts';
import { type EpochMs, epochMs, MINUTE } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { FollowUp } from '../../src/model/follow-up.ts';
import type { Incident, IncidentAction } from '../../src/model/incident.ts';
import { CHECK_IDS, updateDueAt } from '../../src/model/practice.ts';
import { timelineMarkdown } from '../../src/model/timeline-export.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { registerPages } from '../../src/ui/register.ts';
import { alertOf, SETTINGS, T0 } from '../support/alerts.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries, FAKE_FOLLOW_UP, FAKE_INCIDENTS } from '../support/fake-queries.ts';

const at = (minute: number): EpochMs => epochMs(T0 + minute * MINUTE);

/** A correlator with one open page. */
function paging() {
  const correlator = createCorrelator(SETTINGS);
  const alert = alertOf('ErrorBudgetBurn', { cluster: 'shop' }, { severity: 'page', tier: '50h' });
  correlator.correlate([{ kind: 'fired', at: at(0), alert }], at(0));
  const incident = (): Incident => correlator.incidents()[0] as Incident;
  const act = (action: IncidentAction, minute: number) => {
    const acted = correlator.act(1, action, at(minute));
    return acted.kind === 'done'
      ? (acted.result.changes.at(-1)?.reason ?? '')
      : acted.kind === 'conflict'
        ? acted.message
        : '';
  };
  const dueIn = (minute: number): number => ((updateDueAt(incident()) ?? Number.NaN) - at(minute)) / MINUTE;
  return { incident, act, dueIn };
}

describe('what customers are told', () => {
  const told = (until: number | null): IncidentAction => ({
    kind: 'update',
    by: 'ada',
    note: 'we see errors',
    until: until === null ? null : at(until),
  });

  test('is due ten minutes after the page began, then within half an hour, no sooner than a quarter', () => {
    const { act, dueIn } = paging();
    assert.equal(dueIn(0), 10);
    assert.equal(act(told(null), 8), 'customers told: we see errors');
    assert.equal(dueIn(8), 30);
    act(told(40), 20);
    assert.equal(dueIn(20), 20);
    act(told(31), 30);
    assert.equal(dueIn(30), 15);
    act(told(300), 40);
    assert.equal(dueIn(40), 30);
    assert.equal(act(told(null), 75), 'customers told (5 min late): we see errors');
  });

  test('is due no more when it is over, and starts afresh with the next episode', () => {
    const { act, incident, dueIn } = paging();
    act(told(null), 5);
    act({ kind: 'resolve', by: 'ada', note: null }, 10);
    assert.equal(updateDueAt(incident()), null);
    act({ kind: 'reopen', by: 'ada', note: null }, 60);
    assert.equal(dueIn(60), 10);
  });
});

describe('the checklist', () => {
  const resolve = (checks: readonly (typeof CHECK_IDS)[number][] | undefined, note: string | null): IncidentAction => ({
    kind: 'resolve',
    by: 'ada',
    note,
    ...(checks === undefined ? {} : { checks }),
  });

  test('is on the timeline; what is left open needs a reason', () => {
    const { act, incident } = paging();
    assert.match(act(resolve(['alerts'], null), 5), /^not checked: synthetic, customers; check it, or say why/);
    assert.equal(incident().state, 'open');
    assert.equal(
      act(resolve(['alerts'], 'no customer saw it'), 6),
      'no customer saw it; checked: alerts; not checked: synthetic, customers',
    );
    assert.equal(paging().act(resolve(CHECK_IDS, null), 5), 'by ada; checked: synthetic, alerts, customers');
    assert.equal(paging().act(resolve(undefined, null), 5), 'by ada');
  });
});

describe('actions', () => {
  test('are in the file of incidents, and there after a restart', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'slowburn-actions-'));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'slowburn.sqlite');
    const first = openSqliteStore(file);
    const fields = { incident: 41, title: 'x', owner: 'ada', due: '2026-03-02', createdAt: at(0), by: 'bob' };
    const added = first.followUps.add({ ...fields, doneAt: null, doneBy: null });
    const second = first.followUps.add({ ...fields, title: 'y', doneAt: null, doneBy: null });
    assert.deepEqual([added.id, second.id], [1, 2]);
    first.followUps.save({ ...added, doneAt: at(5), doneBy: 'ada' });
    first.close();
    const again = openSqliteStore(file);
    assert.deepEqual(again.followUps.list(), [{ ...added, doneAt: at(5), doneBy: 'ada' }, second]);
    again.close();
  });

  function book() {
    const held = new Map<number, FollowUp>();
    const store = {
      list: () => [...held.values()],
      add: (fields: Omit<FollowUp, 'id'>) => {
        const one = { id: held.size + 1, ...fields };
        held.set(one.id, one);
        return one;
      },
      save: (one: FollowUp) => void held.set(one.id, one),
    };
    return createFollowUps(store, (incident) => incident === 41);
  }
  const DAY = 86_400_000;
  const now = epochMs(Date.UTC(2026, 2, 1, 3));
  const request = { incident: 41, title: 'x', owner: 'ada', due: '2026-03-02', by: 'bob' };

  test('are due until the end of their day, and can be done and opened again', () => {
    const actions = book();
    assert.equal(actions.add(request, now).kind, 'done');
    actions.add({ ...request, title: 'first', due: '2026-03-01' }, now);
    const states = (days: number) =>
      actions
        .list({ state: null, incident: null }, epochMs(now + days * DAY))
        .map(({ title, state }) => `${title} ${state}`);
    assert.deepEqual(states(0), ['first open', 'x open']);
    assert.deepEqual(states(1), ['first overdue', 'x open']);
    assert.deepEqual(states(2), ['first overdue', 'x overdue']);
    assert.equal(actions.mark(2, true, 'ada', now).kind, 'done');
    assert.equal(actions.mark(2, true, 'ada', now).kind, 'conflict');
    assert.deepEqual(states(2), ['first done', 'x overdue']);
    assert.deepEqual(actions.list({ state: 'open', incident: 41 }, epochMs(now + 2 * DAY)).length, 1);
    assert.equal(actions.mark(9, true, 'ada', now).kind, 'not_found');
  });

  test('need an incident, an owner and a date', () => {
    const actions = book();
    const kinds = [{ incident: 40 }, { owner: ' ' }, { due: '2026-02-30' }, { title: '' }].map((over) => {
      const outcome = actions.add({ ...request, ...over }, now);
      return outcome.kind === 'bad_field' ? outcome.field : outcome.kind;
    });
    assert.deepEqual(kinds, ['not_found', 'owner', 'due', 'title']);
  });
});

async function start(t: TestContext) {
  const queries = createFakeQueries();
  const fake = createFakeCommands();
  const app = await startApi(t, {
    queries,
    commands: fake.commands,
    registerPages: (server) => registerPages(server, { queries, commands: fake.commands }),
  });
  return { app, ...fake };
}

describe('over HTTP', () => {
  test('actions are listed, written down and marked, and what does not fit is said', async (t) => {
    const { app } = await start(t);
    const list = (await app.inject('/api/v1/actions')).json<{ items: unknown[] }>();
    assert.deepEqual(list.items, [JSON.parse(JSON.stringify(FAKE_FOLLOW_UP))]);
    const post = (url: string, payload?: object) => app.inject({ method: 'POST', url, ...(payload && { payload }) });
    const fields = { title: 'x', owner: 'ada', due: '2026-03-15' };
    assert.equal((await post('/api/v1/incidents/41/actions', fields)).json<{ by: string }>().by, 'unknown');
    assert.equal((await post('/api/v1/incidents/99/actions', fields)).statusCode, 404);
    assert.equal((await post('/api/v1/incidents/41/actions', { ...fields, due: 'soon' })).statusCode, 400);
    assert.equal((await post('/api/v1/actions/7/done', { by: 'ada' })).json<{ doneBy: string }>().doneBy, 'ada');
    assert.equal((await post('/api/v1/actions/7/reopen')).statusCode, 409);
    assert.equal((await post('/api/v1/actions/8/done')).statusCode, 404);
  });

  test('checks and updates are handed on', async (t) => {
    const { app, acted } = await start(t);
    const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload });
    assert.equal((await post('/api/v1/incidents/41/resolve', { checks: ['synthetic'], note: 'x' })).statusCode, 200);
    assert.deepEqual(acted[0]?.checks, ['synthetic']);
    assert.equal((await post('/api/v1/incidents/41/update', { note: 'told' })).statusCode, 200);
    assert.equal((await post('/api/v1/incidents/41/update', {})).statusCode, 400);
    assert.equal((await post('/api/v1/incidents/41/resolve', { checks: ['odd'] })).statusCode, 400);
    assert.equal((await post('/api/v1/incidents/41/note', { note: 'x', checks: [] })).statusCode, 400);
  });

  test('the timeline is exported as Markdown and JSON', async (t) => {
    const { app } = await start(t);
    const md = await app.inject('/api/v1/incidents/41/timeline?format=md');
    assert.equal(md.headers['content-type'], 'text/markdown; charset=utf-8');
    assert.match(md.body, /^# Incident 41: /);
    assert.ok(md.body.includes('- Capture of envoy-a-1: <https://capture.example.com/7?a=1&b=2>'));
    const json = await app.inject('/api/v1/incidents/41/timeline');
    assert.deepEqual(json.json(), JSON.parse(JSON.stringify(FAKE_INCIDENTS[0])));
    assert.equal((await app.inject('/api/v1/incidents/99/timeline')).statusCode, 404);
    const [incident] = FAKE_INCIDENTS;
    assert.ok(incident !== undefined);
    const nasty = { ...incident, title: 'a | b\n# c <script>', followUps: [FAKE_FOLLOW_UP] };
    const text = timelineMarkdown(nasty);
    assert.ok(text.startsWith('# Incident 41: a \\| b \\# c \\<script\\>\n'), text);
    assert.ok(text.includes('- [ ] Drain \\<b\\>before\\</b\\> replacing (ada, due 2026-02-28)'), text);
  });

  test('the pages have forms for all of it, without a script', async (t) => {
    const { app, acted } = await start(t);
    const page = (await app.inject('/incidents/41')).body;
    assert.match(page, /not told yet; update due <time datetime="2026-03-01T03:50:00.000Z">/);
    assert.match(page, /name="check-synthetic"/);
    assert.match(page, /href="\/api\/v1\/incidents\/41\/timeline\?format=md"/);
    assert.match(page, /action="\/incidents\/41\/actions"/);
    assert.doesNotMatch(page, /<script(?! src="\/assets\/)/);
    const actions = (await app.inject('/actions')).body;
    assert.match(actions, /Drain &lt;b&gt;before&lt;\/b&gt; replacing/);
    assert.match(actions, /<strong>overdue<\/strong>/);
    const post = (url: string, fields: Readonly<Record<string, string>>) =>
      app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      });
    await post('/incidents/41/resolve', { by: 'ada', 'check-synthetic': 'synthetic' });
    assert.deepEqual(acted[0]?.checks, ['synthetic']);
    const added = await post('/incidents/41/actions', { title: 'x', owner: 'ada', due: 'soon', by: 'ada' });
    assert.match(decodeURIComponent(String(added.headers.location)), /"due" is no date/);
    assert.match(
      decodeURIComponent(String((await post('/actions/7/done', { by: 'ada' })).headers.location)),
      /is done/,
    );
  });
});
