import fc from 'fast-check';
import { type EpochMs, epochMs, ms, ratio } from '../../src/base/units.ts';
import type { Alert, BurnFigures, Evidence, Place } from '../../src/model/alert.ts';
import type { Incident, IncidentChange, IncidentMember } from '../../src/model/incident.ts';
import { type Labels, labelsOf } from '../../src/model/labels.ts';

/** Arbitrary incidents with what texts and numbers can hold at their worst. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('__proto__', 'constructor', '$map', '$number', '', 'a\u0000b', '\ud800', '{"$map":[]}'),
);
const at: fc.Arbitrary<EpochMs> = fc.integer({ min: 0, max: 2_000_000_000_000 }).map(epochMs);
const number = fc.double();
const orNull = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(some, { nil: null });
const severity = fc.constantFrom('page' as const, 'ticket' as const);

const labels: fc.Arbitrary<Labels> = fc.array(fc.tuple(text, text), { maxLength: 4 }).map(labelsOf);
const place: fc.Arbitrary<Place> = fc.record({ cluster: text, zone: text, host: text }, { requiredKeys: [] });
const evidence: fc.Arbitrary<Evidence> = fc.record({
  name: text,
  value: fc.oneof(number, text, fc.boolean(), fc.constant(null)),
  text,
});
const duration = number.map(ms);
const share = number.map(ratio);
const burn: fc.Arbitrary<BurnFigures> = fc.record({
  exhaustion: fc.record({
    exhausted: fc.boolean(),
    until: orNull(duration),
    low: orNull(duration),
    high: orNull(duration),
    pace: orNull(duration),
    recoversAt: orNull(at),
  }),
  budgetRemaining: orNull(share),
  errorRatio: orNull(share),
  spentSince: orNull(share),
  burningSince: at,
  spent: orNull(share),
  window: text,
  slowerThan: orNull(duration),
  slices: orNull(fc.record({ width: duration, byRatio: fc.boolean() })),
});

export const anyAlert: fc.Arbitrary<Alert> = fc.record({
  key: text,
  name: text,
  labels,
  place,
  severity,
  tier: orNull(text),
  tiersHolding: fc.array(text, { maxLength: 2 }),
  since: at,
  owner: fc.constantFrom('edge' as const, 'service' as const),
  runbook: text,
  summary: text,
  evidence: fc.array(evidence, { maxLength: 2 }),
  burn: orNull(burn),
});

const member: fc.Arbitrary<IncidentMember> = fc.record({
  alert: anyAlert,
  state: fc.constantFrom('firing' as const, 'resolved' as const),
  joinedAt: at,
  resolvedAt: orNull(at),
  reason: text,
});

/** An incident with one of the ids 1 to 6. */
export const anyIncident: fc.Arbitrary<Incident> = fc
  .record({
    id: fc.integer({ min: 1, max: 6 }),
    episode: fc.integer({ min: 1, max: 9 }),
    seq: fc.nat(99),
    state: fc.constantFrom('open' as const, 'acknowledged' as const, 'resolved' as const),
    severity,
    tier: orNull(text),
    title: text,
    lead: text,
    members: fc.array(member, { maxLength: 2 }),
    openedAt: at,
    episodeAt: at,
    changedAt: at,
    quietSince: orNull(at),
    resolvedAt: at,
    acknowledgement: orNull(fc.record({ by: text, at, lapsesAt: orNull(at) })),
    snoozedUntil: orNull(at),
    runbook: text,
    previous: orNull(fc.nat()),
    announced: fc.record({
      severity: orNull(severity),
      lastPageAt: orNull(at),
      tiers: fc.array(text, { maxLength: 2 }),
      domains: fc.array(text, { maxLength: 2 }),
      episode: fc.nat(9),
      stillBurning: fc.boolean(),
    }),
  })
  .map((incident) => (incident.state === 'resolved' ? incident : { ...incident, resolvedAt: null }));

export const anyChange: fc.Arbitrary<IncidentChange> = anyIncident.chain(({ members, ...after }) =>
  fc.record({
    incident: fc.constant(after.id),
    episode: fc.constant(after.episode),
    seq: fc.integer({ min: 1, max: 6 }),
    at,
    change: fc.constantFrom('opened' as const, 'joined' as const, 'resolved' as const),
    by: text,
    reason: text,
    after: fc.constant(after),
    members: fc.constant(members.length),
  }),
);
