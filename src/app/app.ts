import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { createApiServer } from '../api/server.ts';
import type { Clock } from '../base/clock.ts';
import type { Address, Rules, ServiceConfig } from '../config/config.ts';
import { runbookUrlFor } from '../correlate/runbook-link.ts';
import { watchdogOf } from '../detect/watchdog.ts';
import { ALERT } from '../model/conventions.ts';
import type { Receiver } from '../model/receiver.ts';
import { createDeliveryBook } from '../notify/delivery-book.ts';
import { createNotifiers } from '../notify/registry.ts';
import { createRepeats } from '../notify/repeats.ts';
import { createSender } from '../notify/sender.ts';
import { createGrpcReceiver } from '../otlp/grpc-receiver.ts';
import { createHttpReceiver } from '../otlp/http-receiver.ts';
import { createInflightBytes } from '../otlp/inflight-bytes.ts';
import { openDataDirectory } from '../store/data-directory.ts';
import { openIngestLog } from '../store/segment-log.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { createProductMetrics, type ProductMetrics } from '../telemetry/metrics.ts';
import { createRuntimeMetrics } from '../telemetry/runtime.ts';
import { registerPages, runbookPage } from '../ui/register.ts';
import { createChangeFeed } from './change-feed.ts';
import { createCommands } from './commands.ts';
import { createCorrections } from './corrections.ts';
import { createBodyDecoder } from './decode-body.ts';
import { createEngine } from './engine.ts';
import { createFollowUps } from './follow-ups.ts';
import { createForeignAlerts } from './foreign-alerts.ts';
import { createHealth } from './health.ts';
import { startHeartbeats } from './heartbeat.ts';
import { createHooks } from './hooks.ts';
import { createIngest } from './ingest.ts';
import { failingAfter, ownAlerts } from './own-alerts.ts';
import { createQueries } from './queries.ts';
import { readRunbook } from './runbooks.ts';
import { createSilences } from './silences.ts';
import { createSnapshots } from './snapshots.ts';
import { createTickLoop } from './tick-loop.ts';
import { type CreateTicker, createTicker } from './ticker.ts';
import { createTurns } from './turns.ts';

/** Bodies of all requests being read and applied, over both OTLP ports. */
const INFLIGHT_BYTES_MAX = 256 * 1024 * 1024;

export interface AppOptions {
  readonly config: ServiceConfig;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Timers of the system clock unless given; goes with a clock that is moved by hand. */
  readonly createTicker?: CreateTicker;
}

export interface App {
  readonly ports: { readonly http: number; readonly otlpHttp: number; readonly otlpGrpc: number };
  readonly httpAddress: Address;
  /** Requests and points taken from the ingest log at start. */
  readonly recovered: { readonly records: number; readonly points: number };
  /** Takes up a checked set of rules: SLOs keep their history, detectors and routes are as they were at start. */
  replaceRules(rules: Rules): void;
  /** Finishes requests in flight, writes a snapshot, closes the stores. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Wires the service: one straight line, in the order in which a data point travels, torn down in reverse. The only
 * place that
 * knows every part.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, clock, logger } = options;
  const onStop: (() => void | Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let step = onStop.pop(); step !== undefined; step = onStop.pop()) await step();
  };
  try {
    return await start();
  } catch (error) {
    await stop();
    throw error;
  }

  async function start(): Promise<App> {
    let logSync: (bytes: number, appends: number) => void = () => undefined;
    let countForeign: ProductMetrics['foreignReceived'] = () => undefined;
    const directory = openDataDirectory(config.dataDir);
    onStop.push(() => directory.release());
    const store = openSqliteStore(directory.incidentsFile);
    onStop.push(() => store.close());
    const log = await openIngestLog({
      directory: directory.logDirectory,
      onSync: (bytes, appends) => logSync(bytes, appends),
      onDamage: (damage) => logger.warn(damage, 'the ingest log holds bytes that are no record; they are passed over'),
    });
    onStop.push(() => log.close());

    let slos = options.rules.slos;
    let httpAddress = config.listen.http;
    const baseUrl = (): string => config.externalUrl ?? `http://${urlHost(httpAddress.host)}:${httpAddress.port}`;
    const receivers = allReceivers(config.receivers, options.rules.receivers);
    const notifiers = createNotifiers(receivers, clock);
    const engine = createEngine({
      rules: options.rules,
      receivers,
      notifiers,
      store,
      baseUrl,
      grafanaUrl: config.grafanaUrl,
      runbook: (name) => readRunbook(config.runbooksDir, name),
    });
    const corrections = createCorrections({
      store: store.corrections,
      book: engine.corrections,
      cells: engine.aggregate,
      slos: () => new Set(slos.map(({ id }) => id)),
    });
    const silences = createSilences({
      store: store.silences,
      book: engine.mutes,
      firing: () => engine.evaluator.firing(),
      incidents: store,
      runbookUrl: (runbook, incident) => runbookUrlFor(runbook, baseUrl(), incident, null),
      newId: randomUUID,
    });
    const followUps = createFollowUps(store.followUps, (incident) => store.incident(incident) !== null);
    const turns = createTurns();
    const bodies = createBodyDecoder(turns);
    onStop.push(() => bodies.close());
    const ingest = createIngest({ series: engine.series, log, clock, turns, bodies });
    const snapshots = createSnapshots({ directory: directory.snapshotDirectory, engine, ingest, log, logger });
    const recovered = snapshots.recover();
    engine.evaluator.restore(clock.now(), new Set(slos.map(({ id }) => id)));
    onStop.push(
      () => new Promise<void>((resolve) => turns.between(() => resolve(new Promise((done) => done(snapshots.save()))))),
    );

    const foreign = createForeignAlerts({
      settings: options.rules.correlation,
      store: store.foreignAlerts,
      firing: () => engine.evaluator.firing(),
      balancers: (now) => engine.aggregate.balancers(now),
      onWarning: (fields, message) => logger.warn(fields, message),
      onReceived: (way, received) => countForeign(way, received),
    });

    const deliveries = createDeliveryBook({
      receivers: receivers.map(({ name }) => name),
      outcomes: store.outcomes(),
      backlogs: () => store.backlogs(),
      after: failingAfter(options.rules),
    });
    const metrics = createProductMetrics({
      version: options.version,
      source: {
        statuses: () => engine.burn.statuses(),
        firing: () => engine.evaluator.firing(),
        incidents: () => store.listIncidents({ states: ['open', 'acknowledged'], before: null, limit: 1000 }),
        balancers: () => engine.aggregate.balancers(clock.now()),
        fleet: () => engine.aggregate,
        pointCounts: () => engine.series.counters(),
        seriesCount: () => engine.series.seriesCount(),
        foreignAlerts: () => foreign.held(),
        receivers: () => deliveries.health(clock.now()),
        now: () => clock.now(),
      },
    });
    logSync = (bytes, appends) => metrics.logSync(bytes, appends);
    countForeign = (way, received) => metrics.foreignReceived(way, received);
    const runtime = createRuntimeMetrics({ version: options.version });
    onStop.push(() => runtime.shutdown());

    const sender = createSender({
      store,
      notifiers,
      clock,
      random: Math.random,
      onAttempt(receiver, result, error) {
        metrics.notification(receiver, result);
        deliveries.attempt(receiver, result, error, clock.now());
      },
      onError: (error) => logger.error({ err: error }, 'the outbox could not be read or written; it is tried again'),
    });
    onStop.push(() => sender.stop());
    const repeats = createRepeats({ store, notifiers });
    onStop.push(() => repeats.stop());
    const hooks = createHooks({
      rules: options.rules.hooks,
      evaluator: engine.evaluator,
      store,
      features: engine.aggregate,
      clock,
      baseUrl,
      onError: (error) => logger.error({ err: error }, 'a hook could not be called or its answer not be kept'),
    });
    hooks.restore();
    onStop.push(() => hooks.stop());
    const heartbeats = startHeartbeats({
      settings: watchdogOf(options.rules.detectors),
      notifiers,
      clock,
      baseUrl,
      grafanaUrl: config.grafanaUrl,
      writable: () => store.writable() && log.writable() && engine.evaluator.uncommitted() === 0,
      onAttempt: (receiver, result) => metrics.notification(receiver, result),
      onError: (error) => logger.error({ err: error }, 'a heartbeat failed in a way that is a bug'),
    });
    onStop.push(() => heartbeats?.stop());
    const changes = createChangeFeed(clock.now());
    const loop = createTickLoop({
      clock,
      logger,
      evaluator: engine.evaluator,
      foreign: (now) => foreign.due(now),
      snapshots,
      metrics,
      turns,
      wakeSender: () => sender.wake(),
      createTicker: options.createTicker ?? createTicker,
      ownAlerts: (now) => ownAlerts(options.rules, deliveries.health(now), engine.evaluator.firing(), now),
      onEvaluated(at, isChanged) {
        if (isChanged) changes.noteChange();
        void heartbeats?.evaluated(at);
        repeats.evaluated(at);
        hooks.evaluated(at);
      },
    });
    onStop.push(() => loop.stop());

    const health = createHealth({
      clock,
      store,
      log,
      evaluator: engine.evaluator,
      lastTickAt: () => loop.lastTickAt(),
    });
    const queries = createQueries({
      clock,
      slos: () => slos,
      statuses: () => engine.burn.statuses(),
      evaluator: engine.evaluator,
      cells: engine.aggregate,
      correctionBook: engine.corrections,
      features: engine.aggregate,
      corrections,
      silences,
      followUps,
      receivers: receivers.map(({ name }) => name),
      receiversOf: (incident) => engine.receiversOf(incident, clock.now()),
      detectors: () => options.rules.detectors,
      standard: () => options.rules.scorecard,
      configPush: () => options.rules.detectors.get(ALERT.configPushRegression),
      configBudget: () => options.rules.detectors.get(ALERT.configBudgetSpent),
      store,
      noiseMarks: store.noiseMarks,
      followUpStore: store.followUps,
      runbooksDir: config.runbooksDir,
      runbookUrl: (runbook, incident) => runbookUrlFor(runbook, baseUrl(), incident, null),
      health,
      changes,
    });
    const commands = createCommands({
      clock,
      evaluator: engine.evaluator,
      corrections,
      foreign,
      silences,
      followUps,
      noiseMarks: store.noiseMarks,
      queries,
      wakeSender: () => sender.wake(),
      noteChange: () => changes.noteChange(),
    });
    const api = await createApiServer({
      queries,
      commands,
      metrics,
      runtimeMetrics: runtime,
      tokens: config.tokens,
      logger,
      version: options.version,
      registerPages: (server, runbook) => registerPages(server, { queries, commands, runbook }),
      runbookPage: (runbook) => runbookPage(runbook, queries.now()),
      baseUrl,
      grafanaUrl: config.grafanaUrl,
      externalUrl: config.externalUrl,
    });
    await api.listen({ host: httpAddress.host, port: httpAddress.port });
    onStop.push(() => api.close());
    httpAddress = { host: httpAddress.host, port: boundPort(api.server.address()) };

    const receiverOptions = {
      consumer: ingest,
      metrics,
      tokens: config.tokens.filter((token) => token.role === 'push'),
      identityHeader: config.identityHeader,
      path: config.otlp.path,
      limits: { wireBytes: config.otlp.maxBytes, inflatedBytes: config.otlp.maxBytes },
      inflight: createInflightBytes(INFLIGHT_BYTES_MAX),
      onError: (error: unknown) =>
        logger.error({ err: error }, 'a request failed in a way that is a bug; the sender was told to retry'),
    };
    const otlpHttp = createHttpReceiver(receiverOptions);
    const otlpHttpAddress = await otlpHttp.listen(config.listen.otlpHttp);
    onStop.push(() => otlpHttp.close());
    const otlpGrpc = createGrpcReceiver(receiverOptions);
    const otlpGrpcAddress = await otlpGrpc.listen(config.listen.otlpGrpc);
    onStop.push(() => otlpGrpc.close());
    loop.start();
    sender.wake();

    return {
      ports: { http: httpAddress.port, otlpHttp: otlpHttpAddress.port, otlpGrpc: otlpGrpcAddress.port },
      httpAddress,
      recovered,
      replaceRules(rules) {
        turns.between(() => {
          slos = rules.slos;
          engine.replaceSlos(rules);
        });
      },
      stop,
    };
  }
}

function boundPort(address: string | { port: number } | null): number {
  if (address === null || typeof address === 'string') throw new Error('BUG: the HTTP server has no port');
  return address.port;
}

/** Receivers of slowburn.yaml first; a receiver of routes.yaml with a name already taken is left out. */
function allReceivers(own: readonly Receiver[], ofRules: readonly Receiver[]): readonly Receiver[] {
  const taken = new Set(own.map((receiver) => receiver.name));
  return [...own, ...ofRules.filter((receiver) => !taken.has(receiver.name))];
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host);
