import { type Command, InvalidArgumentError, Option } from 'commander';
import { runActionAdd, runActionMark, runActionsList } from './actions.ts';
import { runCompare } from './compare.ts';
import { runIncidentAction, runIncidentExport, runIncidentShow, runIncidentsList } from './incidents.ts';
import type { CommandIo, ExitCode } from './io.ts';
import { runSilenceAdd, runSilenceExpire, runSilenceList, runSilencePreview } from './silence.ts';

/** Commands that talk to a running service over its HTTP API. */

type Done = (code: ExitCode) => void;

interface Common {
  readonly url?: string;
  readonly json?: boolean;
}

const commonOf = ({ url, json }: Common) => ({ url: url ?? null, json: json ?? false });

const withCommon = (command: Command): Command =>
  command
    .option('--url <url>', 'where slowburn is (default: SLOWBURN_URL, else http://127.0.0.1:8080)')
    .option('--json', 'JSON instead of text');

export function addSilence(program: Command, io: CommandIo, done: Done): void {
  const silence = program
    .command('silence')
    .description('keep messages about some alerts back for a time')
    .helpCommand(false)
    .addHelpText('after', HELP.silence);

  withCommon(silence.command('add'))
    .description('silence what matches, for an hour unless told otherwise; prints the id')
    .argument(
      '<matcher...>',
      'all must match: host=10.0.3.7, zone=~"a|b", severity!=page; a bare word is an alert name',
    )
    .option('--for <duration>', 'how long')
    .option('--until <time>', 'until when (RFC 3339)')
    .option('--start <time>', 'from when on (RFC 3339)')
    .option('--by <name>', 'who (default: USER)')
    .option('--comment <text>', 'why', '')
    .action(async (matchers: string[], options: Common & SilenceOptions) => {
      const { for: duration = null, until = null, start = null, by = null, comment } = options;
      done(await runSilenceAdd({ ...commonOf(options), matchers, times: { duration, until, start }, by, comment }, io));
    });
  withCommon(silence.command('list'))
    .description('silences that are active or to come')
    .option('--expired', 'those that ended in the last 5 days too')
    .addOption(new Option('--state <state>', 'only those').choices(['active', 'pending', 'expired']))
    .action(async (options: Common & { expired?: boolean; state?: string }) => {
      const { expired = false, state = null } = options;
      done(await runSilenceList({ ...commonOf(options), expired, state }, io));
    });
  withCommon(silence.command('expire'))
    .description('end silences now')
    .argument('<id...>', 'ids')
    .action(async (ids: string[], options: Common) => done(await runSilenceExpire({ ...commonOf(options), ids }, io)));
  withCommon(silence.command('preview'))
    .description('what a silence would mute now, and what of the last 7 days it would have muted')
    .argument('<matcher...>', 'as in add')
    .action(async (matchers: string[], options: Common) =>
      done(await runSilencePreview({ ...commonOf(options), matchers }, io)),
    );
}

export function addIncidents(program: Command, io: CommandIo, done: Done): void {
  const incidents = program
    .command('incidents')
    .description('look at incidents and act on them')
    .helpCommand(false)
    .addHelpText('after', HELP.incidents);

  withCommon(incidents.command('list'))
    .description('incidents, newest first')
    .addOption(
      new Option('--state <state>', 'which')
        .choices(['active', 'open', 'acknowledged', 'resolved', 'all'])
        .default('active', 'open or acknowledged'),
    )
    .action(async (options: Common & { state: string }) =>
      done(await runIncidentsList({ ...commonOf(options), state: options.state }, io)),
    );
  withCommon(incidents.command('show'))
    .description('one incident: alerts, what mutes them, timeline')
    .argument('<id>', 'its number', numberOf)
    .action(async (id: number, options: Common) => done(await runIncidentShow({ ...commonOf(options), id }, io)));
  withCommon(incidents.command('export'))
    .description('the record of one incident, for a postmortem')
    .argument('<id>', 'its number', numberOf)
    .addOption(new Option('--format <format>', 'of the record').choices(['md', 'json']).default('md'))
    .action(async (id: number, options: Common & { format: 'md' | 'json' }) =>
      done(await runIncidentExport({ ...commonOf(options), id, format: options.format }, io)),
    );
  for (const { command, action, description, isTimed } of ACTIONS) {
    const made = withCommon(incidents.command(command))
      .description(description)
      .argument('<id>', 'its number', numberOf)
      .option('--by <name>', 'who (default: USER)')
      .option('--note <text>', 'why, for the timeline');
    if (command === 'resolve') made.option('--checked <ids>', 'all, or what of the checklist was seen to: a,b');
    if (isTimed) made.option('--for <duration>', 'how long').option('--until <time>', 'until when (RFC 3339)');
    made.action(async (id: number, options: Common & ActionOptions) => {
      const { by = null, note = null, for: duration = null, until = null, checked = null } = options;
      done(await runIncidentAction({ ...commonOf(options), id, action, by, note, duration, until, checked }, io));
    });
  }
}

export function addActions(program: Command, io: CommandIo, done: Done): void {
  const actions = program
    .command('actions')
    .description('what is to be done after incidents')
    .helpCommand(false)
    .addHelpText('after', HELP.actions);

  withCommon(actions.command('list'))
    .description('actions, those that are due first')
    .addOption(
      new Option('--state <state>', 'which')
        .choices(['open', 'overdue', 'done', 'all'])
        .default('open', 'overdue ones too'),
    )
    .action(async (options: Common & { state: string }) =>
      done(await runActionsList({ ...commonOf(options), state: options.state }, io)),
    );
  withCommon(actions.command('add'))
    .description('write one down; prints its number')
    .argument('<incident>', 'number of the incident that it follows from', numberOf)
    .argument('<title>', 'what is to be done')
    .requiredOption('--owner <name>', 'by whom')
    .requiredOption('--due <date>', 'by which day: 2026-03-15')
    .option('--by <name>', 'who writes it down (default: USER)')
    .action(async (incident: number, title: string, options: Common & { owner: string; due: string; by?: string }) => {
      const { owner, due, by = null } = options;
      done(await runActionAdd({ ...commonOf(options), incident, title, owner, due, by }, io));
    });
  for (const verb of ['done', 'reopen'] as const) {
    withCommon(actions.command(verb))
      .description(verb === 'done' ? 'it is done' : 'it is not done after all')
      .argument('<id>', 'its number', numberOf)
      .option('--by <name>', 'who says so (default: USER)')
      .action(async (id: number, options: Common & { by?: string }) =>
        done(await runActionMark({ ...commonOf(options), id, verb, by: options.by ?? null }, io)),
      );
  }
}

export function addCompare(program: Command, io: CommandIo, done: Done): void {
  withCommon(program.command('compare'))
    .description('two cohorts of balancers or hosts beside each other: is a worse?')
    .requiredOption('--a <value>', 'the side that is judged: a config version, a zone, ...')
    .option('--b <value>', 'the other side (default: all that has another value)')
    .addOption(
      new Option('--attribute <attribute>', 'what tells them apart')
        .choices(['configVersion', 'version', 'zone', 'region', 'balancer', 'cluster'])
        .default('configVersion'),
    )
    .option('--kind <kind>', 'of configVersion: where several kinds share a version')
    .option('--cluster <cluster>', 'of zone: the hosts of this cluster by their zones')
    .option('--window <duration>', '1m to 6h (default: since the version began to run, else 1h)')
    .option('--fault <rate>', 'rate of a fault that must not be missed (default: 0.001)')
    .option('--confidence <share>', 'with this confidence (default: 0.95)')
    .addHelpText('after', HELP.compare)
    .action(async (options: Common & Readonly<Record<string, string>>) => {
      const { url, json, ...query } = options as Common & Record<string, string | undefined>;
      done(
        await runCompare({ ...commonOf({ ...(url === undefined ? {} : { url }), json: json ?? false }), query }, io),
      );
    });
}

const ACTIONS = [
  { command: 'ack', action: 'acknowledge', description: 'somebody works on it', isTimed: true },
  { command: 'unack', action: 'unacknowledge', description: 'nobody works on it any more', isTimed: false },
  { command: 'resolve', action: 'resolve', description: 'it is over', isTimed: false },
  { command: 'reopen', action: 'reopen', description: 'it is not over after all', isTimed: false },
  { command: 'snooze', action: 'snooze', description: 'quiet for an hour, or as told', isTimed: true },
  {
    command: 'update',
    action: 'update',
    description: 'customers were told --note; --until = they hear again',
    isTimed: true,
  },
  { command: 'note', action: 'note', description: 'add --note to its timeline', isTimed: false },
] as const;

interface SilenceOptions {
  readonly for?: string;
  readonly until?: string;
  readonly start?: string;
  readonly by?: string;
  readonly comment: string;
}

interface ActionOptions {
  readonly by?: string;
  readonly note?: string;
  readonly for?: string;
  readonly until?: string;
  readonly checked?: string;
}

function numberOf(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('It is a whole number.');
  return Number(text);
}

const HELP = {
  actions: `
Example:
  slowburn actions add 41 "alert on pool time-outs" --owner ada --due 2026-03-15
  slowburn actions list --state overdue
  slowburn actions done 7
A token, where one is asked for, comes from SLOWBURN_TOKEN.
Exit codes: 0 done, 1 refused, 2 usage, 3 could not reach it.`,
  compare: `
Example:
  slowburn compare --a v42                                  a canary against the rest and its own past
  slowburn compare --attribute zone --a b                   one zone against the others
  slowburn compare --attribute cluster --a shop-shadow --b shop
A token, where one is asked for, comes from SLOWBURN_TOKEN.
Exit codes: 0 no worse, 1 worse, held or withheld, 2 usage, 3 could not reach it.`,
  silence: `
Example:
  slowburn silence preview host=10.0.3.7
  slowburn silence add host=10.0.3.7 --for 2h --comment "kernel update"
  slowburn silence list
  slowburn silence expire 0f6c2d1e-5f0a-4a57-9d2a-0d0f8f4b2f11
A token, where one is asked for, comes from SLOWBURN_TOKEN.
Exit codes: 0 done, 1 refused, 2 usage, 3 could not reach it.`,
  incidents: `
Example:
  slowburn incidents list
  slowburn incidents ack 41 --by ada --note "draining 10.0.3.7"
  slowburn incidents snooze 41 --for 30m
A token, where one is asked for, comes from SLOWBURN_TOKEN.
Exit codes: 0 done, 1 refused, 2 usage, 3 could not reach it.`,
};
