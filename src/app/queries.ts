import type { CorrectionBook } from '../aggregate/correction-book.ts';
import type { FeatureView } from '../aggregate/features.ts';
import type { SloCells } from '../aggregate/view.ts';
import type { Clock } from '../base/clock.ts';
import { formatInstant } from '../base/instant.ts';
import type { GroupStatus } from '../burn/status.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { Incident } from '../model/incident.ts';
import type { FollowUpFilter, FollowUpView, Health, Queries } from '../model/views.ts';
import type { Slo } from '../slo/slo.ts';
import type { IncidentStore } from '../store/store.ts';
import type { ChangeFeed } from './change-feed.ts';
import { compare } from './compare-views.ts';
import { configHealth, configVersions } from './config-views.ts';
import type { Corrections } from './corrections.ts';
import type { Evaluator } from './evaluate.ts';
import type { FollowUps } from './follow-ups.ts';
import { readRunbook, runbookNames } from './runbooks.ts';
import type { Silences } from './silences.ts';
import { skew } from './skew-views.ts';
import { sloHistory } from './slo-history.ts';
import { stages } from './stage-views.ts';
import {
  type RunbookUrl,
  toAlertView,
  toBalancerView,
  toIncidentDetail,
  toIncidentView,
  toSloView,
} from './to-views.ts';
import { red, tls } from './traffic-views.ts';
import { trendSeries, trends, untilOf } from './trend-views.ts';

export interface QueriesDeps {
  readonly clock: Clock;
  readonly slos: () => readonly Slo[];
  readonly statuses: () => readonly GroupStatus[];
  readonly evaluator: Evaluator;
  readonly cells: SloCells;
  /** Through which budgets are read. */
  readonly correctionBook: CorrectionBook;
  readonly features: FeatureView;
  readonly corrections: Corrections;
  readonly silences: Silences;
  readonly followUps: FollowUps;
  readonly receivers: readonly string[];
  readonly receiversOf: (incident: Incident) => readonly string[];
  /** Thresholds by which config versions are compared. */
  readonly configPush: () => DetectorSettings | undefined;
  /** Thresholds of trends. */
  readonly detectors: () => ReadonlyMap<string, DetectorSettings>;
  /** By which the time of rollouts is told from other time. */
  readonly configBudget: () => DetectorSettings | undefined;
  readonly store: IncidentStore;
  readonly runbooksDir: string;
  readonly runbookUrl: RunbookUrl;
  readonly health: () => Health;
  readonly changes: ChangeFeed;
}

/** The read side over the embedded engine: what api and ui show. */
export function createQueries(deps: QueriesDeps): Queries {
  const views = (): ReturnType<Queries['slos']> => {
    const groups = new Map<string, GroupStatus[]>();
    for (const status of deps.statuses()) {
      const list = groups.get(status.slo.id);
      if (list === undefined) groups.set(status.slo.id, [status]);
      else list.push(status);
    }
    const slos = [...deps.slos()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return slos.map((slo) => toSloView(slo, groups.get(slo.id) ?? []));
  };

  /** Newest first, from memory: in a storm one incident alone takes long to read from the store. */
  const active = (): readonly Incident[] =>
    deps.evaluator
      .incidents()
      .filter(({ state }) => state !== 'resolved')
      .sort((a, b) => b.id - a.id);

  const followUps = (filter: FollowUpFilter): readonly FollowUpView[] => deps.followUps.list(filter, deps.clock.now());

  return {
    slos: views,
    slo: (id) => views().find((slo) => slo.id === id) ?? null,
    alerts() {
      const incidentOf = new Map<string, number>();
      for (const incident of active()) {
        for (const member of incident.members) incidentOf.set(member.alert.key, incident.id);
      }
      const mutesOf = deps.evaluator.mutes(deps.clock.now());
      return deps.evaluator
        .firing()
        .map((alert) => toAlertView(alert, 'firing', incidentOf.get(alert.key) ?? null, mutesOf(alert)));
    },
    incidents({ state, cursor, limit }) {
      const states: readonly Incident['state'][] =
        state === null ? ['open', 'acknowledged', 'resolved'] : state === 'active' ? ['open', 'acknowledged'] : [state];
      const before = cursor === null ? null : Number(cursor);
      const found = states.includes('resolved')
        ? deps.store.listIncidents({ states, before, limit: limit + 1 })
        : active().filter((one) => states.includes(one.state) && (before === null || one.id < before));
      const items = found.slice(0, limit).map((incident) => toIncidentView(incident, deps.runbookUrl));
      const last = items.at(-1);
      return { items, next: found.length > limit && last !== undefined ? String(last.id) : null };
    },
    incident(id) {
      const incident = deps.store.incident(id);
      if (incident === null) return null;
      const { timeline, sends, hookCalls } = deps.store;
      return toIncidentDetail(
        incident,
        timeline(id),
        sends(id),
        hookCalls(id),
        followUps({ state: null, incident: id }),
        deps.runbookUrl,
      );
    },
    configVersions: () => configVersions(deps.features, deps.clock.now()),
    configHealth: (version, kind) => configHealth(deps.features, deps.configPush(), deps.clock.now(), version, kind),
    followUps,
    compare: (asked) => compare(deps.features, deps.configPush(), deps.clock.now(), asked),
    trends: (until, weeks) => trends(deps.store, deps.detectors(), untilOf(until, deps.clock.now()), weeks),
    trendSeries: ({ measure, until, weeks }) =>
      trendSeries(deps.store, measure, untilOf(until, deps.clock.now()), weeks),
    sloHistory(asked) {
      const { cells, correctionBook, features, store } = deps;
      const states = ['open', 'acknowledged', 'resolved'] as const;
      return sloHistory(
        {
          cells,
          corrections: correctionBook,
          features,
          statuses: deps.statuses(),
          incidents: () => store.listIncidents({ states, before: null, limit: 1000 }),
          configBudget: deps.configBudget(),
        },
        asked,
        deps.clock.now(),
      );
    },
    stages: (asked) => stages(deps.features, asked, deps.clock.now()),
    red: (asked) => red(deps.features, asked, deps.clock.now()),
    tls: (asked) => tls(deps.features, asked, deps.clock.now()),
    skew: (asked) => skew(deps.features, asked, deps.clock.now()),
    fleet: () => deps.features.balancers(deps.clock.now()).map(toBalancerView),
    corrections: (filter) => deps.corrections.list(filter, deps.clock.now()),
    correction: (id) => deps.corrections.detail(id, deps.clock.now()),
    previewCorrection: (request) => deps.corrections.preview(request, deps.clock.now()),
    silences: (filter) => deps.silences.list(filter, deps.clock.now()),
    silence: (id) => deps.silences.one(id, deps.clock.now()),
    previewSilence: (matchers) => deps.silences.preview(matchers, deps.clock.now()),
    receivers: () => deps.receivers,
    receiversOf(id) {
      const incident = deps.store.incident(id);
      return incident === null ? [] : deps.receiversOf(incident);
    },
    health: deps.health,
    runbook: (name) => readRunbook(deps.runbooksDir, name),
    runbookNames: () => runbookNames(deps.runbooksDir),
    version: () => deps.changes.version(),
    onChange: (listener) => deps.changes.subscribe(listener),
    now: () => formatInstant(deps.clock.now()),
  };
}
