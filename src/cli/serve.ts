import { join } from 'node:path';
import { type App, createApp } from '../app/app.ts';
import { systemClock } from '../app/system-clock.ts';
import { AppError } from '../base/app-error.ts';
import type { Rules, ServiceConfig } from '../config/config.ts';
import { loadRules, loadServiceConfig } from '../config/load.ts';
import { formatProblem } from '../config/report.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

export interface ServeArgs {
  readonly configPath: string | null;
  readonly dataDir: string | null;
  readonly printPorts: boolean;
  readonly logLevel: string;
}

/** `slowburn serve`: runs until SIGINT or SIGTERM; SIGHUP reads the rules again. */
export async function runServe(args: ServeArgs, io: CommandIo): Promise<ExitCode> {
  const loaded = loadServiceConfig({
    configPath: args.configPath,
    ...(args.dataDir === null ? {} : { dataDir: args.dataDir }),
    env: io.env,
    cwd: io.cwd,
    packageDir: io.packageDir,
  });
  if (!loaded.ok) {
    for (const problem of loaded.error) io.stderr(`${formatProblem(problem)}\n`);
    io.stderr('slowburn does not start on a configuration with errors.\n');
    return EXIT.failed;
  }
  const config = loaded.value;
  const rules = readRules(config, io);
  if (rules === null) {
    io.stderr('slowburn does not start on rules with errors; `slowburn check` prints the same list.\n');
    return EXIT.failed;
  }
  const logger = createLogger({ level: args.logLevel });
  let app: App;
  try {
    app = await createApp({ config, rules, clock: systemClock, logger, version: io.version });
  } catch (error) {
    io.stderr(`slowburn could not start: ${describeFailure(error)}\n`);
    return EXIT.failed;
  }
  const reload = (): void => {
    const next = readRules(config, io);
    if (next === null) {
      io.stderr('The rules have errors; slowburn goes on with the last good ones.\n');
      return;
    }
    app.replaceRules(next);
    io.stderr(`Rules read again: ${next.slos.length} SLOs.\n`);
  };
  process.on('SIGHUP', reload);
  const stopped = stopSignal();
  io.stderr(startMessage(app, config, rules, io.version));
  if (args.printPorts) io.stdout(`${JSON.stringify(app.ports)}\n`);
  const signal = await stopped;
  process.off('SIGHUP', reload);
  io.stderr(`${signal}: finishing requests in flight and writing a snapshot.\n`);
  await app.stop();
  return EXIT.fine;
}

/** Null after errors, which are on stderr then. */
export function readRules(config: ServiceConfig, io: CommandIo): Rules | null {
  const { rules, problems } = loadRules({
    rulesDir: config.rulesDir,
    shippedDir: join(io.packageDir, 'rules'),
    runbooksDir: config.runbooksDir,
    receivers: config.receivers,
    env: io.env,
  });
  for (const problem of problems) io.stderr(`${formatProblem(problem)}\n`);
  return rules;
}

export function describeFailure(error: unknown): string {
  if (error instanceof AppError)
    return `${error.code} ${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}`;
  const failure = error as NodeJS.ErrnoException;
  if (failure.code === 'EADDRINUSE') {
    return `${failure.message}; another process listens there: stop it, or set listen in slowburn.yaml (port 0 takes a free one)`;
  }
  return failure.message;
}

/** The first of SIGINT and SIGTERM; a second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done(signal));
  });
}

function startMessage(app: App, config: ServiceConfig, rules: Rules, version: string): string {
  const { http, otlpHttp, otlpGrpc } = app.ports;
  const { listen } = config;
  const web = `http://${listen.http.host}:${http}`;
  const recovered =
    app.recovered.records === 0 ? '' : `  Read ${app.recovered.points} points back from the ingest log.\n`;
  return `slowburn ${version} is running, data in ${config.dataDir}
${recovered}  Push OTLP metrics to   http://${listen.otlpHttp.host}:${otlpHttp}/v1/metrics   (HTTP, protobuf or JSON)
                         ${listen.otlpGrpc.host}:${otlpGrpc}                        (gRPC)
  Look at                ${web}/
  SLOs in force          ${rules.slos.map((slo) => slo.id).join(', ')}
  Try next               curl -s ${web}/api/v1/slos ; slowburn check ; ${web}/metrics
`;
}
