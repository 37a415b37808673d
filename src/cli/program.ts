import { Command, CommanderError, Option } from 'commander';
import { REPORT_FORMATS, type ReportFormat } from '../app/review.ts';
import { ENGINES, type Engine } from '../generate/prometheus-rules.ts';
import type { EmittedFlavor } from '../sim/emit/emitter.ts';
import { EMITTED_FLAVORS } from '../sim/emit/emitter.ts';
import { runCheck } from './check.ts';
import { addActions, addCompare, addIncidents, addSilence } from './client-commands.ts';
import { runDemo } from './demo.ts';
import { runDrill } from './drill.ts';
import { runGenerate } from './generate.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';
import { runReplay } from './replay.ts';
import { runReport } from './report.ts';
import { runServe, stopSignal } from './serve.ts';

/** The command line. Returns a function from arguments to an exit code; nothing here ends the process. */
export function createProgram(io: CommandIo): (args: readonly string[]) => Promise<ExitCode> {
  return async (args) => {
    let exitCode: ExitCode = EXIT.fine;
    const program = build(io, (code) => {
      exitCode = code;
    });
    try {
      await program.parseAsync([...args], { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    }
    return exitCode;
  };
}

function build(io: CommandIo, done: (code: ExitCode) => void): Command {
  const program = new Command('slowburn')
    .description('Watches load balancers over OTLP and pages only when an SLO error budget would run out soon.')
    .version(io.version)
    .exitOverride()
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .showHelpAfterError('(slowburn COMMAND --help explains)')
    .helpCommand(false);

  program
    .command('serve')
    .description('run the service: OTLP in, budgets, incidents, notifications, API and pages')
    .option('--config <file>', 'slowburn.yaml; none is needed for a first run')
    .option('--data <dir>', 'where everything is kept (default ./data)')
    .option('--print-ports', 'print {"http":n,"otlpHttp":n,"otlpGrpc":n} on stdout once ready')
    .addOption(
      new Option('--log-level <level>', 'what to log').choices(['debug', 'info', 'warn', 'error']).default('info'),
    )
    .addHelpText('after', HELP.serve)
    .action(async (options: { config?: string; data?: string; printPorts?: boolean; logLevel: string }) => {
      const { config = null, data = null, printPorts = false, logLevel } = options;
      done(await runServe({ configPath: config, dataDir: data, printPorts, logLevel }, io));
    });

  program
    .command('check')
    .description('validate configuration and rules, and print what can page whom')
    .argument('[path...]', 'rules folders, SLO files, or a slowburn.yaml; none = the configuration in force')
    .option('--config <file>', 'slowburn.yaml whose rules are checked')
    .option('--json', 'findings and SLOs as one JSON object')
    .option('--send-test <receiver>', 'when nothing is wrong: send this receiver a test message, and close it')
    .addHelpText('after', HELP.check)
    .action(async (paths: string[], options: { config?: string; json?: boolean; sendTest?: string }) => {
      done(
        (await runCheck(
          {
            paths,
            configPath: options.config ?? null,
            json: options.json ?? false,
            ...(options.sendTest === undefined ? {} : { sendTest: options.sendTest }),
          },
          io,
        )) as ExitCode,
      );
    });

  program
    .command('replay')
    .description('run recorded metrics through the same engine, at full speed, sending nothing')
    .argument(
      '[file...]',
      'JSON Lines (.jsonl, .json), length-delimited protobuf (.pb), either compressed (.gz), or - for stdin',
    )
    .option('--rules <dir>', 'rules folder; what it lacks comes from the shipped one')
    .option('--until <time>', 'let time pass until then (RFC 3339) after the last line')
    .option('--prometheus <url>', 'in place of files: the history of a Prometheus server, by the canonical names')
    .option('--from <time>', 'with --prometheus: the first moment (RFC 3339)')
    .option('--to <time>', 'with --prometheus: the last moment (RFC 3339)')
    .option('--step <duration>', 'with --prometheus: how far apart samples are read', '1m')
    .option('--summary', 'a table per SLO and policy instead: when it would have paged, and at what cost')
    .addOption(
      new Option('--policy <name>', 'with --summary: this policy for every SLO; can be repeated')
        .argParser((name: string, before: readonly string[]) => [...before, name])
        .default([], "each SLO's own, workbook and countdown"),
    )
    .option('--json', 'with --summary: one JSON object, with every alert')
    .addHelpText('after', HELP.replay)
    .action(async (files: string[], options: ReplayOptions) => {
      const { rules = null, until = null, summary = false, json = false, policy, step } = options;
      const { prometheus: url, from = '', to = '' } = options;
      const prometheus = url === undefined ? null : { url, from, to, step };
      done(await runReplay({ files, prometheus, rulesDir: rules, until, summary, json, policies: policy }, io));
    });

  program
    .command('generate')
    .description('write Prometheus rules and their unit tests from the SLO files, and the Grafana dashboards')
    .option('--rules <dir>', 'rules folder; what it lacks comes from the shipped one')
    .option(
      '--out <dir>',
      'where the rule files go; by itself it leaves the dashboards out (default: rules/prometheus)',
    )
    .option('--dashboards <dir>', 'where the dashboards go (default: dashboards)')
    .option(
      '--external-url <url>',
      'where people reach slowburn; links in alerts begin with it',
      'http://127.0.0.1:8080',
    )
    .option('--grafana-url <url>', 'where people reach Grafana; dashboard links in alerts lead there')
    .addOption(new Option('--engine <engine>', 'who evaluates them').choices([...ENGINES]).default('prometheus'))
    .option('--check', 'only say what differs')
    .addHelpText('after', HELP.generate)
    .action((options: GenerateOptions) => {
      const { rules = null, out, engine, check = false } = options;
      const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
      const args = {
        rulesDir: rules,
        outDir: out ?? 'rules/prometheus',
        dashboardsDir: options.dashboards ?? (out === undefined ? 'dashboards' : null),
        externalUrl: withoutSlash(options.externalUrl),
        grafanaUrl: options.grafanaUrl === undefined ? null : withoutSlash(options.grafanaUrl),
        engine,
        check,
      };
      done(runGenerate(args, io));
    });
  addReport(program, io, done);
  addIncidents(program, io, done);
  addActions(program, io, done);
  addCompare(program, io, done);
  addSilence(program, io, done);
  addDrill(program, io, done);
  addDemo(program, io, done);
  return program;
}

function addReport(program: Command, io: CommandIo, done: (code: ExitCode) => void): void {
  program
    .command('report')
    .description('the weekly review: budgets, incidents, pages, trends, and what to do first')
    .option('--week <week>', 'ISO week, Monday to Monday in UTC: 2026-W48 (default: the last that is over)')
    .addOption(new Option('--format <format>', 'of the report').choices([...REPORT_FORMATS]).default('md'))
    .option('--config <file>', 'slowburn.yaml of the service')
    .option('--data <dir>', 'its data directory (default ./data); the service may run meanwhile')
    .addHelpText('after', HELP.report)
    .action((options: { week?: string; format: ReportFormat; config?: string; data?: string }) => {
      const { week = null, format, config = null, data = null } = options;
      done(runReport({ week, format, configPath: config, dataDir: data }, io));
    });
}

function addDrill(program: Command, io: CommandIo, done: (code: ExitCode) => void): void {
  program
    .command('drill')
    .description('rehearse failures on a simulated fleet and judge what the engine makes of them')
    .argument('[scenario...]', 'which; none = a list of them')
    .option('--all', 'every scenario')
    .option('--seed <n>', "first seed; 1 has the scenarios' own sizes, any other draws them", '1')
    .option('--seeds <n>', 'so many seeds from there on')
    .option('--jobs <n>', 'so many runs at a time (default: one per core)')
    .option('--target <url>', 'push OTLP over HTTP to a running service, in real time, instead')
    .option('--api <url>', 'with --target: the API of that service (default: its host, port 8080)')
    .option('--warm-up <duration>', 'with --target: how long the fleet is well first (default: as the scenario has it)')
    .addOption(
      new Option('--flavour <flavour>', 'vocabulary that balancers speak')
        .choices([...EMITTED_FLAVORS])
        .default('canonical'),
    )
    .option('--rules <dir>', 'rules folder; what it lacks comes from the shipped one')
    .option('--json', 'one JSON object instead of the table')
    .addHelpText('after', HELP.drill)
    .action(async (scenarios: string[], options: DrillOptions) => {
      const {
        all = false,
        json = false,
        seed,
        seeds = null,
        jobs = null,
        target = null,
        api = null,
        warmUp = null,
      } = options;
      const { flavour: flavor, rules: rulesDir = null } = options;
      done(await runDrill({ scenarios, all, seed, seeds, jobs, target, api, warmUp, flavor, rulesDir, json }, io));
    });
}

function addDemo(program: Command, io: CommandIo, done: (code: ExitCode) => void): void {
  program
    .command('demo')
    .description('the service with a simulated fleet that pushes to it, and a failure every few minutes')
    .option('--config <file>', 'slowburn.yaml, for other ports or receivers; its data folder is not used')
    .addHelpText('after', HELP.demo)
    .action(async (options: { config?: string }) => {
      done(await runDemo({ configPath: options.config ?? null }, io, stopSignal()));
    });
}

interface DrillOptions {
  readonly all?: boolean;
  readonly seed: string;
  readonly seeds?: string;
  readonly jobs?: string;
  readonly target?: string;
  readonly api?: string;
  readonly warmUp?: string;
  readonly flavour: EmittedFlavor;
  readonly rules?: string;
  readonly json?: boolean;
}

interface ReplayOptions {
  readonly prometheus?: string;
  readonly from?: string;
  readonly to?: string;
  readonly step: string;
  readonly rules?: string;
  readonly until?: string;
  readonly summary?: boolean;
  readonly json?: boolean;
  readonly policy: readonly string[];
}

interface GenerateOptions {
  readonly rules?: string;
  readonly out?: string;
  readonly dashboards?: string;
  readonly externalUrl: string;
  readonly grafanaUrl?: string;
  readonly engine: Engine;
  readonly check?: boolean;
}

const HELP = {
  serve: `
Example:
  slowburn serve                          first run: ports 8080, 4318, 4317 on loopback, data in ./data
  slowburn serve --config slowburn.yaml   your receivers, rules and addresses (docs/config.md lists every key)
SIGHUP reads the rules again; rules with errors are reported and the last good ones stay in force.
Exit codes: 0 stopped, 3 could not start.`,
  check: `
Example:
  slowburn check rules/                   every file of a rules folder
  slowburn check rules/slos/checkout.yaml one SLO file
  slowburn check --config slowburn.yaml --send-test oncall   a test message to this receiver
Findings: file:line:col CODE message, how to fix. Exit codes: 0 nothing wrong, 1 findings, 2 usage.`,
  report: `
Example:
  slowburn report                                      the last week, as Markdown
  slowburn report --week 2026-W48 --format html > w48.html   a page that stands by itself
The same text whenever it is made, unless people have judged pages since.
Exit codes: 0 fine, 2 usage, 3 could not read.`,
  replay: `
Example:
  slowburn replay --rules rules metrics.jsonl | jq 'select(.type == "notification")'
  slowburn replay --summary metrics.jsonl                                    own policy, workbook and countdown beside
  slowburn replay --summary --policy countdown --policy mine metrics.jsonl   two of your choice
  slowburn replay --summary --prometheus http://127.0.0.1:9090 --from 2026-03-01T00:00:00Z --to 2026-04-01T00:00:00Z
A line is an OTLP metrics request as JSON (the Collector's file exporter writes these), {"at", "alerts"}, {"at", "action"} or
{"at"}; an action is what a person did to an incident, or "correction" with the fields of POST /api/v1/corrections.
Output: JSON Lines of alerts, incidents, notifications, and at the end each SLO; the same for the same input.
--summary says for each SLO and policy what would have fired, how many minutes after the burn set in, and what of the
budget was spent then and at the end. Nothing is sent either way.
Exit codes: 0 fine, 1 lines were skipped, 2 usage, 3 could not read.`,
  demo: `
Example:
  slowburn demo                          look at http://127.0.0.1:8080/; the first failure comes after three minutes
Data are in a temporary folder and gone when it ends (Ctrl-C).
Exit codes: 0 ended, 3 could not start.`,
  drill: `
Example:
  slowburn drill                                        which scenarios there are
  slowburn drill ticket-rotation --flavour envoy        one, as a fleet of Envoys would tell it
  slowburn drill --all --seeds 20 --json                all of them, 20 fleets each
  slowburn drill sinkhole-two-choices --target http://127.0.0.1:4318 --warm-up 2m
Virtual time through the engine that serve runs, nothing sent; the same seed gives the same verdict.
Exit codes: 0 all as expected, 1 a miss, 2 usage, 3 could not read or reach the target.`,
  generate: `
Example:
  slowburn generate                                  rules/prometheus from the SLOs in force, and dashboards
  slowburn generate --rules my-rules --out prom --external-url https://slowburn.example.com
  slowburn generate --check                          exit 1 when the files are not what the SLOs give
  promtool test rules rules/prometheus/tests/*.yaml  the unit tests that come with them
Rules say the SRE Workbook's windows and least bad events; the countdown needs slowburn itself.
Exit codes: 0 fine, 1 files differ, 2 usage, 3 could not read or write.`,
};
