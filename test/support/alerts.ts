import { epochMs, ms, ratio } from '../../src/base/units.ts';
import type { CorrelationSettings } from '../../src/correlate/settings.ts';
import { type Alert, alertKey, type BurnFigures, type Place, type Severity } from '../../src/model/alert.ts';
import { labelsOf } from '../../src/model/labels.ts';

export const MINUTE = 60_000;
export const T0 = 1_800_000_000_000;

export interface AlertFields {
  readonly severity?: Severity;
  readonly tier?: string | null;
  readonly tiersHolding?: readonly string[];
  /** Minutes after T0. */
  readonly since?: number;
  readonly spentSince?: number;
}

/** An alert whose identity is its place. */
export function alertOf(name: string, place: Place, fields: AlertFields = {}): Alert {
  const {
    severity = 'ticket',
    tier = null,
    tiersHolding = tier === null ? [] : [tier],
    since = 0,
    spentSince = 0,
  } = fields;
  const labels = labelsOf(Object.entries(place).map(([key, value]) => [key, String(value)] as const));
  return {
    key: alertKey(name, labels),
    name,
    labels,
    place,
    severity,
    tier,
    tiersHolding,
    since: epochMs(T0 + since * MINUTE),
    owner: 'service',
    runbook: name,
    summary: `${name} happens.`,
    evidence: [{ name: 'ratio', value: 0.02, unit: '1', text: '20 of 1000 requests failed' }],
    burn: name === 'ErrorBudgetBurn' ? burnOf(spentSince, since) : null,
  };
}

const burnOf = (spentSince: number, since: number): BurnFigures => ({
  exhaustion: {
    exhausted: false,
    until: ms(31 * 60 * MINUTE),
    low: ms(27 * 60 * MINUTE),
    high: ms(36 * 60 * MINUTE),
    pace: ms(36 * 60 * MINUTE),
    recoversAt: null,
  },
  budgetRemaining: ratio(0.8),
  errorRatio: ratio(0.021),
  spentSince: ratio(spentSince),
  burningSince: epochMs(T0 + since * MINUTE),
  spent: ratio(spentSince),
  window: '30d',
  slowerThan: null,
});

const edge = (cause: string, effect: string) => ({ cause, effect, scope: 'cluster' as const, within: ms(10 * MINUTE) });

/** The settings that the shipped correlation.yaml gives, with the edges that these tests use. */
export const SETTINGS: CorrelationSettings = {
  causes: [
    edge('HostEjections', 'UpstreamErrors'),
    edge('HostEjections', 'ErrorBudgetBurn'),
    edge('UpstreamErrors', 'ErrorBudgetBurn'),
  ],
  subjects: new Map([['cluster', ['cluster']]]),
  openAfter: ms(0),
  resolveHold: ms(5 * MINUTE),
  reopenWithin: ms(15 * MINUTE),
  reopenWithinTicket: ms(24 * 60 * MINUTE),
  ackLapse: ms(60 * MINUTE),
  minAlerts: 1,
  storm: { clusters: 5, share: 0.2, within: ms(MINUTE) },
  replicaLabels: ['replica', 'prometheus_replica'],
  ignoreLabels: ['value'],
};

/** For scenes of many incidents at once: nothing is a storm. */
export const NO_STORM = { clusters: 1000, share: 1, within: ms(0) };
