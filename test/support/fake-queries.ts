import { NO_STAGES } from '../../src/model/stages.ts';
import type {
  AlertView,
  BalancerView,
  CommandOutcome,
  Commands,
  ComparisonView,
  ConfigHealthView,
  ConfigVersionView,
  CorrectionDetailView,
  CorrectionRequest,
  CorrectionView,
  ExhaustionView,
  FollowUpView,
  GroupViewOut,
  Health,
  IncidentDetailView,
  IncidentView,
  LabelObject,
  Queries,
  SilenceRequest,
  SilenceView,
  SloView,
  TrendSeriesView,
  TrendsView,
} from '../../src/model/views.ts';
import { FAKE_LOOKS_BACK } from './fake-history.ts';

/**
 * A read and write side with the content of one bad night: a host of checkout fails fast, its SLO burns, one incident
 * is open, one is resolved. For tests of API and pages; labels include what HTML and JSON must survive.
 */
export const FAKE_NOW = '2026-03-01T03:42:10.000Z';

/** Labels as the engine gives them: without a prototype, so that any name is an ordinary one. */
export function labelObject(entries: readonly (readonly [string, string])[]): LabelObject {
  const object = Object.create(null) as Record<string, string>;
  for (const [name, value] of entries) object[name] = value;
  return object;
}

export const FAKE_TRENDS: TrendsView = {
  from: '2026-01-25T03:00:00.000Z',
  until: '2026-03-01T03:00:00.000Z',
  weeks: 5,
  hours: 840,
  findings: [
    {
      subject: labelObject([
        ['cluster', 'checkout'],
        ['zone', 'b <&>'],
      ]),
      measure: 'zone_skew',
      unit: '1',
      alert: 'ZoneSkew',
      owner: 'edge',
      runbook: 'ZoneSkew',
      now: 1.09,
      before: 1.01,
      slopePerWeek: 0.02,
      confidence: 0.99999,
      samples: 840,
      summary: 'cluster checkout, zone b <&>: load per capacity beside its share 101 % to 109 %, more by 2 % a week.',
    },
  ],
};

export const FAKE_TREND_SERIES: TrendSeriesView = {
  measure: 'zone_skew',
  unit: '1',
  from: '2026-02-22T03:00:00.000Z',
  until: '2026-03-01T03:00:00.000Z',
  weeks: 1,
  days: ['2026-02-27', '2026-02-28', '2026-03-01'].map((day) => `${day}T00:00:00.000Z`),
  rows: [
    {
      subject: labelObject([
        ['cluster', 'checkout'],
        ['zone', 'b <&>'],
      ]),
      values: [1.01, null, 1.313],
      top: [null, null, null],
    },
    { subject: labelObject([['cluster', 'search']]), values: [1, 1.06, 1.2], top: ['10.0.3.7', null, '<b>'] },
  ],
};

export const FAKE_EXHAUSTION: ExhaustionView = {
  exhausted: false,
  seconds: 111_600,
  low: 97_200,
  high: 129_600.5,
  paceSeconds: 123_428.571,
  recoversAt: null,
};

const QUIET: ExhaustionView = {
  exhausted: false,
  seconds: null,
  low: null,
  high: null,
  paceSeconds: null,
  recoversAt: null,
};

const GONE: ExhaustionView = {
  exhausted: true,
  seconds: 0,
  low: 0,
  high: 0,
  paceSeconds: 3_600,
  recoversAt: '2026-03-02T01:00:00.000Z',
};

const burn = (rates: readonly (number | null)[]): Record<string, number | null> =>
  Object.fromEntries(['5m', '30m', '1h', '2h', '6h', '1d', '3d'].map((name, index) => [name, rates[index] ?? null]));

const BURNING: GroupViewOut = {
  labels: labelObject([['lb.upstream.cluster', 'checkout']]),
  state: 'measured',
  coverage: 0.9993,
  good: 52_300_117,
  bad: 41_002,
  total: 52_341_119,
  slices: null,
  members: null,
  sli: 0.9992166388,
  sliBracket: null,
  leftOut: { good: 1200, bad: 88, corrections: [3, 1] },
  budgetRemaining: 0.2166,
  budgetRemainingBracket: null,
  budgetRemainingSoFar: null,
  resetsAt: null,
  burn: burn([21.4, 21, 18.02, 9.1, 3.2, 0.9, 1e-9]),
  exhaustion: FAKE_EXHAUSTION,
  tier: '50h',
  tiersHolding: ['50h', '5d'],
  severity: 'page',
};

const CALM: GroupViewOut = {
  ...BURNING,
  labels: labelObject([['lb.upstream.cluster', 'search & <b>find</b>']]),
  bad: 0,
  leftOut: null,
  sli: 1,
  budgetRemaining: 1,
  burn: burn([0, 0, 0, 0, 0, 0, 0]),
  exhaustion: QUIET,
  tier: null,
  tiersHolding: [],
  severity: null,
};

const SILENT: GroupViewOut = {
  ...CALM,
  labels: labelObject([
    ['__proto__', 'polluted'],
    ['constructor', 'x"y\\z\n'],
    ['lb.upstream.cluster', ''],
  ]),
  state: 'no_data',
  coverage: 0,
  good: 0,
  total: 0,
  sli: null,
  budgetRemaining: null,
  burn: burn([]),
};

const OVERSPENT: GroupViewOut = {
  ...BURNING,
  leftOut: null,
  labels: labelObject([]),
  budgetRemaining: -1.5,
  exhaustion: GONE,
};

export const FAKE_SLOS: readonly SloView[] = [
  {
    id: 'checkout-availability',
    service: 'checkout',
    displayName: 'Checkout answers without server errors',
    objective: '0.999',
    window: '30d',
    rolling: true,
    budgetingMethod: 'Occurrences',
    timeSliceSeconds: null,
    timeSliceTarget: null,
    labels: labelObject([['team', 'edge']]),
    groups: [BURNING, CALM, SILENT],
  },
  {
    id: 'checkout-latency:p99 / 300 ms',
    service: 'checkout',
    displayName: 'Checkout answers within 300 ms',
    objective: '0.99',
    window: '4w',
    rolling: false,
    budgetingMethod: 'Occurrences',
    timeSliceSeconds: null,
    timeSliceTarget: null,
    labels: labelObject([]),
    groups: [OVERSPENT],
  },
];

export const FAKE_SILENCE: SilenceView = {
  id: '6b0f',
  status: { state: 'active' },
  matchers: [{ name: 'alertname', value: 'HostEjections', isRegex: false, isEqual: true }],
  startsAt: '2026-03-01T03:00:00.000Z',
  endsAt: '2026-03-01T05:00:00.000Z',
  updatedAt: '2026-03-01T03:00:00.000Z',
  createdBy: 'ada',
  comment: 'host <b> is moved',
  alerts: 1,
};

const BURN_ALERT: AlertView = {
  key: 'ErrorBudgetBurn{"lb.upstream.cluster"="checkout","slo"="checkout-availability"}',
  name: 'ErrorBudgetBurn',
  state: 'firing',
  severity: 'page',
  tier: '50h',
  tiersHolding: ['50h', '5d'],
  matchedLabels: labelObject([
    ['alertname', 'ErrorBudgetBurn'],
    ['cluster', 'checkout'],
    ['severity', 'page'],
  ]),
  labels: labelObject([
    ['__proto__', 'x'],
    ['lb.upstream.cluster', 'checkout'],
    ['slo', 'checkout-availability'],
    ['team', 'edge'],
  ]),
  since: '2026-03-01T03:00:10.000Z',
  owner: 'edge',
  summary: 'checkout-availability: budget gone in 31 h. Errors 2.1 % for 42 min.',
  runbook: 'ErrorBudgetBurn',
  evidence: [
    { name: 'error_ratio', value: 0.021, unit: '1', text: 'errors 2.1 % over 1 h' },
    { name: 'confirmed', value: true, unit: null, text: 'both windows burn' },
  ],
  exhaustion: FAKE_EXHAUSTION,
  budgetRemaining: 0.2166,
  incident: 41,
  link: null,
  mutes: [],
};

const EJECTION_ALERT: AlertView = {
  key: 'HostEjections{"cluster"="checkout"}',
  name: 'HostEjections',
  state: 'firing',
  severity: 'ticket',
  tier: null,
  tiersHolding: [],
  labels: labelObject([['cluster', 'checkout']]),
  matchedLabels: labelObject([
    ['alertname', 'HostEjections'],
    ['cluster', 'checkout'],
    ['severity', 'ticket'],
  ]),
  since: '2026-03-01T02:59:40.000Z',
  owner: 'service',
  summary: 'Host 10.0.3.7 of checkout was ejected in 3 rounds within 5 min.',
  runbook: 'HostEjections',
  evidence: [
    { name: 'host', value: '10.0.3.7', unit: null, text: 'host <10.0.3.7>, zone b' },
    { name: 'rounds', value: 3, unit: '{round}', text: '3 rounds' },
    { name: 'cap', value: null, unit: null, text: 'cap unknown' },
  ],
  exhaustion: null,
  budgetRemaining: null,
  incident: 41,
  link: 'https://prometheus.example/graph?g0.expr=up',
  mutes: [
    {
      kind: 'silence',
      silence: FAKE_SILENCE.id,
      interval: null,
      source: null,
      until: FAKE_SILENCE.endsAt,
      text: `silence ${FAKE_SILENCE.id} by ada until 2026-03-01 05:00 UTC (host <b> is moved)`,
    },
    {
      kind: 'inhibition',
      silence: null,
      interval: null,
      source: BURN_ALERT.key,
      until: null,
      text: 'inhibition by ErrorBudgetBurn (cluster checkout)',
    },
  ],
};

export const FAKE_ALERTS: readonly AlertView[] = [BURN_ALERT, EJECTION_ALERT];

const OPEN: IncidentDetailView = {
  id: 41,
  episode: 1,
  state: 'open',
  severity: 'page',
  tier: '50h',
  title: 'HostEjections in checkout explains ErrorBudgetBurn',
  lead: EJECTION_ALERT,
  exhaustion: null,
  alerts: ['ErrorBudgetBurn', 'HostEjections'],
  runbook: 'HostEjections',
  runbookUrl: 'http://127.0.0.1:8080/runbooks/HostEjections',
  openedAt: '2026-03-01T02:59:40.000Z',
  changedAt: '2026-03-01T03:00:10.000Z',
  resolvedAt: null,
  acknowledgedBy: null,
  acknowledgementLapsesAt: null,
  snoozedUntil: null,
  mergedInto: null,
  customersToldAt: null,
  updateDueAt: '2026-03-01T03:50:00.000Z',
  previous: 40,
  members: [
    { alert: EJECTION_ALERT, joinedAt: '2026-03-01T02:59:40.000Z', resolvedAt: null, reason: 'first alert' },
    {
      alert: BURN_ALERT,
      joinedAt: '2026-03-01T03:00:10.000Z',
      resolvedAt: null,
      reason: 'HostEjections explains ErrorBudgetBurn in cluster checkout, 30 s apart',
    },
  ],
  timeline: [
    {
      seq: 1,
      episode: 1,
      at: '2026-03-01T02:59:40.000Z',
      change: 'opened',
      by: 'slowburn',
      reason: 'first alert: HostEjections',
    },
    {
      seq: 2,
      episode: 1,
      at: '2026-03-01T03:00:10.000Z',
      change: 'escalated',
      by: 'slowburn',
      reason: 'ErrorBudgetBurn pages',
    },
  ],
  attachments: [
    { title: 'Capture of envoy-a-1', link: 'https://capture.example.com/7?a=1&b=2', at: FAKE_NOW, by: 'tail' },
  ],
  followUps: [],
  hooks: [
    {
      id: 'tail-41-1-0',
      hook: 'tail',
      kind: 'capture',
      alert: 'StageTailShift',
      at: FAKE_NOW,
      state: 'done',
      refusal: null,
      reason: 'packets of envoy-a-1; answered 200',
      link: 'https://capture.example.com/7?a=1&b=2',
      endedAt: FAKE_NOW,
    },
  ],
  sends: [
    {
      eventId: '41-1-2-oncall',
      episode: 1,
      receiver: 'oncall',
      reason: 'escalated',
      at: '2026-03-01T03:00:10.000Z',
      state: 'pending',
      attempts: 2,
      deliveredAt: null,
      lastError: '503 Service Unavailable',
    },
    {
      eventId: '41-1-1-tickets',
      episode: 1,
      receiver: 'tickets',
      reason: 'opened',
      at: '2026-03-01T02:59:40.000Z',
      state: 'delivered',
      attempts: 1,
      deliveredAt: '2026-03-01T02:59:40.210Z',
      lastError: null,
    },
  ],
};

const RESOLVED: IncidentDetailView = {
  ...OPEN,
  id: 40,
  episode: 2,
  state: 'resolved',
  severity: 'ticket',
  tier: null,
  title: 'UpstreamErrors in <search>',
  alerts: ['HostEjections'],
  openedAt: '2026-02-27T10:00:00.000Z',
  changedAt: '2026-02-27T11:00:00.000Z',
  resolvedAt: '2026-02-27T11:00:00.000Z',
  acknowledgedBy: 'ana',
  previous: null,
  members: OPEN.members.slice(0, 1),
  attachments: [],
  hooks: [],
  followUps: [],
  sends: [],
};

export const FAKE_INCIDENTS: readonly IncidentDetailView[] = [OPEN, RESOLVED];

export const FAKE_FLEET: readonly BalancerView[] = [
  {
    id: 'envoy-a-1',
    flavor: 'envoy',
    version: '1.35.0',
    zone: 'a',
    lastSeen: '2026-03-01T03:42:05.000Z',
    intervalSeconds: 10,
    stale: false,
    clusters: ['checkout', 'search'],
    seriesCount: 1200,
    stages: {
      accept_queue: 'proxy_signal',
      tls: 'absent',
      connect: 'includes_tls',
      backend: 'includes_queue_and_retries',
      write: 'absent',
    },
    metricsUnderstood: ['cluster.upstream_rq', 'cluster.upstream_rq_time'],
    metricsIgnored: ['server.uptime'],
    thresholdsBetweenBounds: [
      { slo: 'upstream-latency', threshold: 0.3, below: 0.25, above: 0.5, fix: 'add 300 to the bounds' },
    ],
  },
  {
    id: 'haproxy <b>',
    flavor: 'haproxy',
    version: null,
    zone: null,
    lastSeen: '2026-03-01T03:20:00.000Z',
    intervalSeconds: 14.5,
    stale: true,
    clusters: [],
    seriesCount: 0,
    stages: NO_STAGES,
    metricsUnderstood: [],
    metricsIgnored: [],
    thresholdsBetweenBounds: [],
  },
];

const WORK: CorrectionDetailView = {
  id: 3,
  state: 'active',
  kind: 'maintenance',
  reason: 'database <upgrade>',
  by: 'ana',
  createdAt: '2026-03-01T02:00:00.000Z',
  slos: ['checkout-availability'],
  matchers: ['lb.upstream.cluster=checkout'],
  from: '2026-03-01T03:00:00.000Z',
  to: '2026-03-01T04:00:00.000Z',
  recurring: null,
  next: { from: '2026-03-01T03:00:00.000Z', to: '2026-03-01T04:00:00.000Z' },
  ended: null,
  undone: null,
  groups: 1,
  effects: [
    {
      slo: 'checkout-availability',
      labels: labelObject([
        ['__proto__', 'x'],
        ['lb.upstream.cluster', 'checkout'],
      ]),
      good: 1200,
      bad: 80,
      budgetBefore: -0.5,
      budgetAfter: 0.2166,
    },
  ],
  audit: [
    { seq: 4, at: '2026-03-01T02:00:00.000Z', by: 'ana', action: 'correction.create', note: 'database <upgrade>' },
  ],
};

/** Newest first: planned work that runs, one that was undone, one that comes every week. */
export const FAKE_CORRECTIONS: readonly CorrectionDetailView[] = [
  WORK,
  {
    ...WORK,
    id: 2,
    state: 'undone',
    next: null,
    undone: { at: '2026-02-20T00:00:00.000Z', by: 'bob', reason: 'wrong cluster' },
    groups: 0,
    effects: [],
  },
  {
    ...WORK,
    id: 1,
    state: 'scheduled',
    kind: 'bad_data',
    slos: [],
    from: null,
    to: null,
    recurring: {
      weekdays: ['tue', 'thu'],
      start: '02:00',
      durationSeconds: 5400,
      zone: 'Europe/Berlin',
      firstDate: '2026-01-01',
      lastDate: null,
    },
    next: { from: '2026-03-03T01:00:00.000Z', to: '2026-03-03T02:30:00.000Z' },
    ended: { at: '2026-03-05T00:00:00.000Z', by: 'ana', reason: 'moved' },
  },
];

export function correctionSummary(correction: CorrectionDetailView): CorrectionView {
  const { groups: _groups, effects: _effects, audit: _audit, ...summary } = correction;
  return summary;
}

export const FAKE_RUNBOOKS: Readonly<Record<string, string>> = {
  ErrorBudgetBurn: '# ErrorBudgetBurn\n\n## Meaning\n\nThe budget <script>alert(1)</script> is burning.\n',
  HostEjections:
    '# HostEjections\n\n## Diagnosis\n\n1. Which hosts? See [the burn](ErrorBudgetBurn.md#meaning).\n\n' +
    '## Mitigation\n\nDrain it.\n',
};

/** What an incident looks like in a list. */
export function incidentSummary(incident: IncidentDetailView): IncidentView {
  const {
    members: _members,
    timeline: _timeline,
    sends: _sends,
    attachments: _attachments,
    hooks: _hooks,
    followUps: _followUps,
    ...summary
  } = incident;
  return summary;
}

/** The fake read side; `over` replaces single queries. */
export const FAKE_CONFIG_VERSIONS: readonly ConfigVersionView[] = [
  { kind: 'cds', version: 'v 2/b', previous: 'v1', since: FAKE_NOW, balancers: ['envoy-a-1'] },
  { kind: '', version: 'v1', previous: null, since: FAKE_NOW, balancers: [] },
];

export const FAKE_CONFIG_HEALTH: ConfigHealthView = {
  kind: 'cds',
  version: 'v 2/b',
  previous: 'v1',
  since: FAKE_NOW,
  stage: 'canary',
  verdict: 'rollback',
  worse: ['errors'],
  deltas: [
    {
      measure: 'errors',
      against: 'rest',
      value: 0.02,
      other: 0.001,
      sample: 3000,
      otherSample: 57_000,
      chance: 1e-12,
      worse: true,
    },
    {
      measure: 'cpu',
      against: 'before',
      value: 0.4,
      other: 0.4,
      sample: 60,
      otherSample: 60,
      chance: null,
      worse: false,
    },
  ],
  requests: 3000,
  rarestSeen: 0.001,
  balancers: ['envoy-a-1'],
  rest: ['envoy-a-2'],
};

export const FAKE_COMPARISON: ComparisonView = {
  kind: 'canary',
  attribute: 'configVersion',
  a: 'v 2/b',
  b: null,
  cluster: null,
  from: '2026-03-01T03:40:10.000Z',
  to: FAKE_NOW,
  verdict: 'hold',
  reason: '1,200 requests, beside 22,800: a fault of 1 in 1,000 needs 2,995 to be seen with 95 %',
  worse: [],
  deltas: [
    {
      measure: 'errors',
      against: 'rest',
      value: 0,
      other: 0.001,
      sample: 1200,
      otherSample: 22_800,
      chance: 1,
      worse: false,
    },
  ],
  sample: {
    requests: 1200,
    otherRequests: 22_800,
    confidence: 0.95,
    failuresToHold: 1,
    rarestFault: 0.00249,
    formula: '1 - (1 - confidence)^(1 / requests)',
  },
  fault: { rate: 0.001, requestsNeeded: 2995, seconds: 90 },
  exposure: { rollout: 'canary', balancers: 1, of: 20, share: 0.05, requestShare: 0.05, batches: 1 },
  drops: null,
  members: ['envoy-a-1'],
  others: ['envoy-a-2'],
};

export const FAKE_FOLLOW_UP: FollowUpView = {
  id: 7,
  incident: 40,
  title: 'Drain <b>before</b> replacing',
  owner: 'ada',
  due: '2026-02-28',
  state: 'overdue',
  createdAt: '2026-02-20T03:10:00.000Z',
  by: 'bob',
  doneAt: null,
  doneBy: null,
};

export function createFakeQueries(over: Partial<Queries> = {}): Queries {
  const health: Health = { ready: true, checks: [{ name: 'store', ok: true, detail: 'writable' }] };
  return {
    ...FAKE_LOOKS_BACK,
    version: () => '1-0',
    onChange: () => () => undefined,
    slos: () => FAKE_SLOS,
    slo: (id) => FAKE_SLOS.find((slo) => slo.id === id) ?? null,
    alerts: () => FAKE_ALERTS,
    incidents({ state, cursor, limit }) {
      const fits = (incident: IncidentDetailView): boolean =>
        state === null || incident.state === state || (state === 'active' && incident.state !== 'resolved');
      const behind = FAKE_INCIDENTS.filter(fits).filter(({ id }) => cursor === null || id < Number(cursor));
      const items = behind.slice(0, limit).map(incidentSummary);
      return { items, next: behind.length > limit ? String(items.at(-1)?.id) : null };
    },
    incident: (id) => FAKE_INCIDENTS.find((incident) => incident.id === id) ?? null,
    fleet: () => FAKE_FLEET,
    corrections({ state, cursor, limit }) {
      const found = FAKE_CORRECTIONS.filter(
        (one) => (state === null || one.state === state) && (cursor === null || one.id < Number(cursor)),
      );
      const items = found.slice(0, limit).map(correctionSummary);
      return { items, next: found.length > limit ? String(items.at(-1)?.id) : null };
    },
    silences: ({ state }) => [FAKE_SILENCE].filter(({ status }) => state === null || status.state === state),
    silence: (id) => (id === FAKE_SILENCE.id ? FAKE_SILENCE : null),
    previewSilence: (matchers) =>
      matchers.some(({ value }) => value === 'bad')
        ? { kind: 'bad_field', field: 'matchers', message: 'would match every alert' }
        : {
            alerts: [EJECTION_ALERT],
            incidents: FAKE_INCIDENTS.slice(0, 1).map(incidentSummary),
            past: [
              {
                name: 'HostEjections',
                labels: EJECTION_ALERT.labels,
                severity: 'ticket',
                incident: 40,
                since: '2026-02-28T03:00:00.000Z',
                resolvedAt: '2026-02-28T03:10:00.000Z',
              },
            ],
            pastCount: 1,
            pastSince: '2026-02-22T03:42:10.000Z',
          },
    receiversOf: () => ['oncall'],
    receivers: () => ['oncall', 'queue'],
    correction: (id) => FAKE_CORRECTIONS.find((one) => one.id === id) ?? null,
    previewCorrection: ({ reason }) =>
      reason === 'bad'
        ? { kind: 'bad_field', field: 'to', message: 'must lie after "from"' }
        : { groups: WORK.groups, effects: WORK.effects },
    configVersions: () => FAKE_CONFIG_VERSIONS,
    configHealth: (version) => (version === FAKE_CONFIG_HEALTH.version ? FAKE_CONFIG_HEALTH : null),
    followUps: ({ state }) => (state === 'done' ? [] : [FAKE_FOLLOW_UP]),
    compare: ({ a }) => (a === FAKE_COMPARISON.a ? FAKE_COMPARISON : { missing: `nobody runs ${a}` }),
    trends: (until, weeks) => ({ ...FAKE_TRENDS, until: until ?? FAKE_TRENDS.until, weeks }),
    trendSeries: ({ measure, until, weeks }) => ({
      ...FAKE_TREND_SERIES,
      measure,
      until: until ?? FAKE_TREND_SERIES.until,
      weeks,
    }),
    health: () => health,
    runbook: (name) => FAKE_RUNBOOKS[name] ?? null,
    runbookNames: () => Object.keys(FAKE_RUNBOOKS),
    now: () => FAKE_NOW,
    ...over,
  };
}

export type FakeAction = Parameters<Commands['act']>[1] & { readonly incident: number };

export type FakeCorrectionChange = Parameters<Commands['changeCorrection']>[1] & { readonly id: number };

/** The fake write side: keeps what it was told, answers `done`, or `conflict` for what is resolved, or `outcome`. */
export function createFakeCommands(outcome?: (action: FakeAction) => CommandOutcome): {
  readonly commands: Commands;
  readonly acted: FakeAction[];
  readonly corrected: (CorrectionRequest | FakeCorrectionChange)[];
  readonly received: { readonly alerts: readonly unknown[]; readonly way: string }[];
  readonly silenced: (SilenceRequest | string)[];
} {
  const acted: FakeAction[] = [];
  const corrected: (CorrectionRequest | FakeCorrectionChange)[] = [];
  const silenced: (SilenceRequest | string)[] = [];
  const received: { readonly alerts: readonly unknown[]; readonly way: string }[] = [];
  const commands: Commands = {
    act(id, action) {
      const told = { ...action, incident: id };
      acted.push(told);
      if (outcome !== undefined) return outcome(told);
      const incident = FAKE_INCIDENTS.find((one) => one.id === id);
      if (incident === undefined) return { kind: 'not_found' };
      if (incident.state === 'resolved' && action.kind !== 'note' && action.kind !== 'reopen') {
        return { kind: 'conflict', message: `incident ${id} is resolved; reopen it first` };
      }
      return { kind: 'done', incident };
    },
    addFollowUp({ due, ...request }) {
      if (due === 'soon') return { kind: 'bad_field', field: 'due', message: 'is no date' };
      if (!FAKE_INCIDENTS.some(({ id }) => id === request.incident)) return { kind: 'not_found' };
      return { kind: 'done', followUp: { ...FAKE_FOLLOW_UP, ...request, due } };
    },
    markFollowUp(id, isDone, by) {
      if (id !== FAKE_FOLLOW_UP.id) return { kind: 'not_found' };
      if (!isDone) return { kind: 'conflict', message: `action ${id} is open already` };
      return { kind: 'done', followUp: { ...FAKE_FOLLOW_UP, state: 'done', doneAt: FAKE_NOW, doneBy: by } };
    },
    receiveAlerts(alerts, way) {
      received.push({ alerts, way });
      const over = alerts.filter((alert) => alert === 'over').length;
      const refused = alerts.flatMap((alert, index) =>
        typeof alert === 'string' ? [{ index, reason: `is ${alert}` }] : [],
      );
      const accepted = alerts.length - refused.length;
      return { accepted, ignored: 0, bad: refused.length - over, overLimit: over, refused };
    },
    setSilence(request) {
      silenced.push(request);
      if (request.comment === 'bad') return { kind: 'bad_field', field: 'endsAt', message: 'lies in the past' };
      return request.id === null || request.id === FAKE_SILENCE.id
        ? { kind: 'done', silence: FAKE_SILENCE }
        : { kind: 'not_found' };
    },
    expireSilence(id) {
      silenced.push(id);
      if (id === 'over') return { kind: 'conflict', message: `silence ${id} has expired already` };
      return id === FAKE_SILENCE.id ? { kind: 'done', silence: FAKE_SILENCE } : { kind: 'not_found' };
    },
    correct(request) {
      corrected.push(request);
      if (request.reason === 'bad') return { kind: 'bad_field', field: 'to', message: 'must lie after "from"' };
      return { kind: 'done', correction: WORK };
    },
    changeCorrection(id, change) {
      corrected.push({ id, ...change });
      const correction = FAKE_CORRECTIONS.find((one) => one.id === id);
      if (correction === undefined) return { kind: 'not_found' };
      if (correction.state === 'undone') return { kind: 'conflict', message: `correction ${id} was undone by bob` };
      return { kind: 'done', correction };
    },
  };
  return { commands, acted, corrected, received, silenced };
}
