import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { loadRules } from '../../src/config/load.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { Incident } from '../../src/model/incident.ts';
import { PACKAGE, SHIPPED } from '../config/fixture.ts';
import { EdgeFleet, HOUR_MS, type Load, MINUTE_MS } from '../support/edge-fleet.ts';

const HEALTHY: Load = {
  full: 833,
  resumed: 1548,
  connections: 2381,
  requests: 4000,
  errors: 2,
  cpu: 0.4,
  added: { perSecond: 4000, p99: 0.002 },
  config: 'v1',
};

/** Incidents of what the detectors said, under the shipped cause graph. */
function incidentsOf(failing: Load): { readonly incidents: readonly Incident[]; readonly pages: number } {
  const shipped = { rulesDir: null, shippedDir: SHIPPED, runbooksDir: path.join(PACKAGE, 'runbooks') };
  const { rules } = loadRules(shipped);
  assert.ok(rules !== null);
  const fleet = new EdgeFleet();
  fleet.run(2 * HOUR_MS, () => HEALTHY, false);
  fleet.run(10 * MINUTE_MS, () => failing);
  const correlator = createCorrelator(rules.correlation);
  const incidents = new Map<number, Incident>();
  let pages = 0;
  for (const { at, kind, alert } of fleet.said) {
    if (kind !== 'fired' && kind !== 'changed') continue;
    const result = correlator.correlate([{ kind, at: epochMs(at), alert }], epochMs(at));
    for (const incident of result.incidents) incidents.set(incident.id, incident);
    pages += result.notifications.filter(({ severity }) => severity === 'page').length;
  }
  return { incidents: [...incidents.values()], pages };
}

test('a config push that takes all CPU is one incident with one page, led by the push', () => {
  const { incidents, pages } = incidentsOf({ ...HEALTHY, config: 'v2', cpu: 1, added: { perSecond: 4000, p99: 9 } });
  assert.equal(incidents.length, 1);
  assert.equal(pages, 1);
  assert.ok(incidents[0]?.lead.startsWith('ConfigPushRegression{'), incidents[0]?.lead);
});

test('lost ticket keys explain the CPU that they cost', () => {
  const { incidents, pages } = incidentsOf({ ...HEALTHY, full: 2417, resumed: 0, cpu: 0.97 });
  assert.equal(incidents.length, 1);
  assert.equal(pages, 0);
  assert.ok(incidents[0]?.lead.startsWith('HandshakeStorm{'), incidents[0]?.lead);
});
