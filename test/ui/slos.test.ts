import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GroupViewOut, SloView } from '../../src/model/views.ts';
import { slosPage } from '../../src/ui/pages/slos.ts';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries } from '../support/fake-queries.ts';

const queries = createFakeQueries();
const groups = queries.slos().flatMap((slo) => slo.groups.map(({ labels }) => ({ slo: slo.id, labels })));

/** What the page shows: the SLOs by id, and how many groups. */
async function shown(t: Parameters<typeof startApi>[0], query: string) {
  const { commands } = createFakeCommands();
  const app = await startApi(t, {
    queries,
    registerPages: (server) => registerPages(server, { queries, commands }),
  });
  const { statusCode, body } = await app.inject(`/slos${query}`);
  assert.equal(statusCode, 200);
  const slos = [...body.matchAll(/<h2 id="slo-([^"]+)">/g)].map(([, id]) => id ?? '');
  return { slos, rows: (body.match(/<tr><th scope="row">/g) ?? []).length, body };
}

describe('the page of the budgets, narrowed', () => {
  const named = groups.find(({ labels }) => labels['lb.upstream.cluster'] !== undefined);
  assert.ok(named !== undefined);
  const cluster = named.labels['lb.upstream.cluster'] ?? '';
  const fits = (value: string | undefined, wanted: string): boolean => value === undefined || value === wanted;

  test('unasked, it shows all', async (t) => {
    const { slos, rows, body } = await shown(t, '');
    assert.deepEqual(
      slos,
      queries.slos().map(({ id }) => id),
    );
    assert.equal(rows, groups.length);
    assert.ok(!body.includes('Show all'));
  });

  test('shows the groups of one SLO and cluster, and the way back', async (t) => {
    const { slos, rows, body } = await shown(t, `?slo=${named.slo}&cluster=${encodeURIComponent(cluster)}`);
    assert.deepEqual(slos, [named.slo]);
    const expected = groups.filter(
      ({ slo, labels }) => slo === named.slo && fits(labels['lb.upstream.cluster'], cluster),
    );
    assert.equal(rows, expected.length);
    assert.match(body, /Only slo .*, cluster .*Show all\./);
  });

  test('says what corrections leave out, and which of them are in force', async (t) => {
    const { body } = await shown(t, '');
    const [notice, ...others] = body.match(/<p class="corrections">.*<\/p>/g) ?? [];
    assert.deepEqual(others, []);
    assert.match(notice ?? '', /Left out of the budget: 88 bad of 1288 events, by /);
    assert.match(
      notice ?? '',
      /correction 3<\/a> \(maintenance by ana: database &lt;upgrade&gt;, <strong>in force<\/strong> until .*04:00:00 UTC/,
    );
    assert.match(notice ?? '', /; <a href="\/api\/v1\/corrections\/1">correction 1<\/a> \(bad data by ana: /);
  });

  test('leaves out SLOs that have nothing there', async (t) => {
    const { slos, body } = await shown(t, '?cluster=nowhere');
    const anywhere = groups.filter(({ labels }) => labels['lb.upstream.cluster'] === undefined).map(({ slo }) => slo);
    assert.deepEqual(slos, [...new Set(anywhere)]);
    assert.ok(body.includes('Show all'));
  });

  test('what is asked is shown as text', async (t) => {
    const { body } = await shown(t, '?slo=%3Cscript%3E&cluster=a&cluster=b');
    assert.match(body, /No budget fits slo &lt;script&gt;\. /);
  });
});

describe('a calendar window on the page of the budgets', () => {
  const [slo] = queries.slos();
  assert.ok(slo !== undefined);
  const [group] = slo.groups;
  assert.ok(group !== undefined);
  const shownOf = (resetsAt: string | null, soFar: number | null, rolling: boolean): string =>
    slosPage(
      [
        {
          ...slo,
          rolling,
          window: '1M',
          groups: [{ ...group, state: 'measured', budgetRemaining: 0.62, budgetRemainingSoFar: soFar, resetsAt }],
        },
      ],
      { slo: null, cluster: null, zone: null },
    ).markup;

  test('says when it resets, and what is left of the budget so far', () => {
    const page = shownOf('2026-03-31T22:00:00.000Z', 0.24, false);
    assert.match(page, /of 1M by the calendar, resets on <time[^>]*>2026-03-31 22:00:00 UTC<\/time>/);
    assert.match(page, /62 % \(of the budget so far: 24 %\)/);
  });

  test('a rolling one says neither', () => {
    assert.doesNotMatch(shownOf(null, null, true), /resets|so far|calendar/);
  });
});

test('a threshold between two bounds shows how good it may be at best', () => {
  const [slo] = queries.slos();
  assert.ok(slo?.groups[0] !== undefined);
  const group: GroupViewOut = {
    ...slo.groups[0],
    state: 'measured',
    sli: 0.98,
    sliBracket: { low: 0.98, high: 0.995 },
  };
  const page = slosPage([{ ...slo, groups: [group] }], { slo: null, cluster: null, zone: null }).markup;
  assert.match(page, /98 % \(at best 99\.5 %\)/);
});

describe('a composite in slices of time', () => {
  const [first] = queries.slos();
  assert.ok(first !== undefined);
  const members = [
    { name: 'availability', weight: 1, good: 990, bad: 10, total: 1000, sli: 0.99, spent: 0.5 },
    { name: 'latency', weight: 0.5, good: 0, bad: 0, total: 0, sli: null, spent: null },
  ];
  const slices = { observed: 10_080, expected: 43_200, coverage: 10_080 / 43_200 };
  const slo: SloView = {
    ...first,
    budgetingMethod: 'RatioTimeslices',
    timeSliceSeconds: 60,
    groups: first.groups.slice(0, 1).map((group) => ({ ...group, bad: 79.25, total: 10_080, slices, members })),
  };
  const some = { ...queries, slos: () => [slo] };
  const start = (t: Parameters<typeof startApi>[0]) => {
    const { commands } = createFakeCommands();
    return startApi(t, {
      queries: some,
      registerPages: (server) => registerPages(server, { queries: some, commands }),
    });
  };

  test('the page tells slices from events, how many have data, and what each member has', async (t) => {
    const { body } = await (await start(t)).inject('/slos');
    assert.match(body, /in slices of 60 s, each by its own ratio/);
    assert.match(body, /79\.25 bad of 10080 slices, 23\.3333 % covered; availability 99 %, latency no events</);
  });

  test('the API writes every figure of them', async (t) => {
    const { items } = (await (await start(t)).inject('/api/v1/slos')).json() as { items: readonly SloView[] };
    assert.deepEqual(items, JSON.parse(JSON.stringify([slo])));
  });
});
