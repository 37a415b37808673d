import { type Aggregate, createAggregate } from '../aggregate/cells.ts';
import { CorrectionBook } from '../aggregate/correction-book.ts';
import type { EpochMs } from '../base/units.ts';
import { type BurnEngine, createBurnEngine } from '../burn/engine.ts';
import type { Rules } from '../config/config.ts';
import { zoneRulesOf } from '../config/zone-rules.ts';
import { createCorrelator } from '../correlate/correlate.ts';
import { MuteBook } from '../correlate/mute.ts';
import { effectiveRoutes, routeIncident } from '../correlate/route.ts';
import { createDetectionEngine } from '../detect/registry.ts';
import { watchdogOf } from '../detect/watchdog.ts';
import { ALERT } from '../model/conventions.ts';
import type { Incident } from '../model/incident.ts';
import type { TrendFinding } from '../model/measure.ts';
import type { Receiver } from '../model/receiver.ts';
import { firstStep } from '../model/runbook-step.ts';
import { messageLinks } from '../notify/links.ts';
import type { Notifier } from '../notify/notifier.ts';
import { toOutboxEntries } from '../notify/outbox.ts';
import { createBinder } from '../series/bind.ts';
import { createSeriesIngest, type SeriesIngest } from '../series/ingest.ts';
import type { IncidentStore } from '../store/store.ts';
import { findTrends, trendFrom } from '../trend/findings.ts';
import { createEvaluator, type Evaluator } from './evaluate.ts';

/** Everything between a decoded request and a committed incident. serve and replay run the same one. */
export interface Engine {
  readonly aggregate: Aggregate;
  readonly series: SeriesIngest;
  /** Empty at first. */
  readonly corrections: CorrectionBook;
  /** Without silences at first. */
  readonly mutes: MuteBook;
  readonly burn: BurnEngine;
  readonly evaluator: Evaluator;
  /** Names of the receivers that routes choose for an incident as it is. */
  receiversOf(incident: Incident, now: EpochMs): readonly string[];
  /** What has slowly become worse in so many weeks before `until`. */
  trends(until: EpochMs, weeks: number): readonly TrendFinding[];
  /** Takes up new SLOs: kept where id and query are the same, started afresh where the query changed. */
  replaceSlos(rules: Rules): void;
}

export interface EngineOptions {
  readonly rules: Rules;
  readonly receivers: readonly Receiver[];
  readonly notifiers: ReadonlyMap<string, Notifier>;
  readonly store: IncidentStore;
  /** Base of the links in messages, without a trailing slash. A function: the port may be known late. */
  readonly baseUrl: () => string;
  /** Base of dashboard links where they lead to Grafana, without a trailing slash. */
  readonly grafanaUrl?: string | null;
  /** The Markdown of a runbook of ours; null for any other. */
  readonly runbook: (name: string) => string | null;
}

/** Wires the pure parts in the order in which a data point travels. */
export function createEngine(options: EngineOptions): Engine {
  const { rules, store } = options;
  const routes = effectiveRoutes(rules.routes, options.receivers, watchdogOf(rules.detectors)?.receiver ?? null);
  const aggregate = createAggregate();
  aggregate.replaceSlos(rules.slos);
  const series = createSeriesIngest({
    binder: createBinder({ slos: rules.slos, aggregate }),
    balancers: aggregate,
  });
  const corrections = new CorrectionBook(zoneRulesOf);
  const mutes = new MuteBook(rules.mutes, zoneRulesOf);
  const burn = createBurnEngine();
  const evaluator = createEvaluator({
    cells: aggregate,
    corrections,
    features: aggregate,
    burn,
    detection: createDetectionEngine(rules.detectors),
    correlator: createCorrelator(rules.correlation),
    mutes,
    store,
    configBudget: rules.detectors.get(ALERT.configBudgetSpent),
    toOutbox: (notifications) =>
      toOutboxEntries(notifications, {
        routes,
        receivers: options.receivers,
        notifiers: options.notifiers,
        sent: (incident) => store.sends(incident),
        sentTo: (receiver, since) => store.sendsTo(receiver, since),
        context(incident) {
          const markdown = options.runbook(incident.runbook);
          const step = markdown === null ? null : firstStep(markdown);
          return { links: messageLinks(incident, step, options.baseUrl(), options.grafanaUrl), step };
        },
      }),
  });
  return {
    aggregate,
    series,
    corrections,
    mutes,
    burn,
    evaluator,
    receiversOf: (incident, now) =>
      routeIncident(incident, incident.severity, routes, options.receivers, now).map(({ name }) => name),
    trends: (until, weeks) => findTrends(store.hourly(trendFrom(until, weeks), until), rules.detectors, until, weeks),
    replaceSlos(next) {
      aggregate.replaceSlos(next.slos);
      aggregate.resetSeriesCounts();
      series.rebind(createBinder({ slos: next.slos, aggregate }));
    },
  };
}
