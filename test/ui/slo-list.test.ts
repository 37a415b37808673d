import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GroupViewOut, SloView } from '../../src/model/views.ts';
import { rowsOf, type SloListAsked, sloList } from '../../src/ui/pages/slo-list.ts';
import { createFakeQueries } from '../support/fake-queries.ts';

const NOTHING: SloListAsked = { q: null, service: null, state: null, severity: null, sort: null, descending: false };
const [template] = createFakeQueries().slos();
assert.ok(template?.groups[0] !== undefined);
const [group] = template.groups as [GroupViewOut];

const sloWith = (id: string, over: Partial<GroupViewOut>, service = 'edge'): SloView => ({
  ...template,
  id,
  service,
  groups: [{ ...group, state: 'measured', severity: null, ...over }],
});

const SLOS: readonly SloView[] = [
  sloWith('b-fine', { budgetRemaining: 0.9, burn: { '1h': 0.1 } }),
  sloWith('a-spent', { budgetRemaining: -0.5, burn: { '1h': 2 }, severity: 'ticket' }, 'checkout'),
  sloWith('d-burning', { budgetRemaining: 0.4, burn: { '1h': 40 }, severity: 'page', labels: { zone: 'North' } }),
  sloWith('c-silent', { state: 'no_data', budgetRemaining: -9, burn: { '1h': 99 } }),
];
const ids = (asked: Partial<SloListAsked>): readonly string[] =>
  rowsOf(SLOS, { ...NOTHING, ...asked }).map(({ slo }) => slo.id);

describe('the list of budgets', () => {
  test('the least left comes first; what nobody measures now comes last, whatever it was', () => {
    assert.deepEqual(ids({}), ['a-spent', 'd-burning', 'b-fine', 'c-silent']);
    assert.deepEqual(ids({ sort: 'burn' }), ['d-burning', 'a-spent', 'b-fine', 'c-silent']);
    assert.deepEqual(ids({ sort: 'alert' }), ['d-burning', 'a-spent', 'b-fine', 'c-silent']);
    assert.deepEqual(ids({ sort: 'name', descending: true }), ['d-burning', 'c-silent', 'b-fine', 'a-spent']);
  });

  test('is narrowed by word, service, state and alert', () => {
    assert.deepEqual(ids({ q: 'north' }), ['d-burning']);
    assert.deepEqual(ids({ service: 'checkout' }), ['a-spent']);
    assert.deepEqual(ids({ state: 'no_data' }), ['c-silent']);
    assert.deepEqual(ids({ severity: 'none' }), ['b-fine', 'c-silent']);
  });

  test('says how it is sorted, and each head leads to the other order with the filter kept', () => {
    const { markup } = sloList(SLOS, { ...NOTHING, state: 'measured', sort: 'left' });
    assert.match(markup, /aria-sort="ascending"><a href="\/slos\?state=measured&amp;sort=left&amp;order=desc">/);
    assert.equal(markup.match(/aria-sort/g)?.length, 1);
    assert.match(markup, /<a href="\/slos\?state=measured&amp;sort=burn">/);
  });

  test('a silent budget is never said to be fine', () => {
    const { markup } = sloList([SLOS[3] as SloView], NOTHING);
    assert.match(markup, /no data: none of its balancers reports/);
    assert.match(markup, /not known/);
    assert.doesNotMatch(markup, /-900 %|99/);
  });
});
