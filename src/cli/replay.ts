import { join, resolve } from 'node:path';
import { createReplay, type Replay } from '../app/replay.ts';
import { readReplay } from '../app/replay-input.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { loadRules } from '../config/load.ts';
import { formatProblem } from '../config/report.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

const PROGRESS_EVERY_LINES = 2000;

/** `slowburn replay [--rules DIR] [--until T] FILE...`: history through the same engine as serve, at full speed. */
export async function runReplay(
  args: { readonly files: readonly string[]; readonly rulesDir: string | null; readonly until: string | null },
  io: CommandIo,
): Promise<ExitCode> {
  const until = args.until === null ? null : parseInstant(args.until);
  if (until === undefined) {
    io.stderr(`slowburn replay: --until ${args.until} is not an RFC 3339 time such as 2026-01-01T00:00:00Z\n`);
    return EXIT.usage;
  }
  const { rules, problems } = loadRules({
    rulesDir: args.rulesDir === null ? null : resolve(io.cwd, args.rulesDir),
    shippedDir: join(io.packageDir, 'rules'),
    runbooksDir: join(io.packageDir, 'runbooks'),
    offline: true,
  });
  for (const problem of problems) io.stderr(`${formatProblem(problem)}\n`);
  if (rules === null) return EXIT.failed;

  const replay = createReplay(rules, (line) => io.stdout(`${line}\n`));
  let skipped = 0;
  let lines = 0;
  try {
    for await (const line of readReplay(
      args.files.map((file) => (file === '-' ? file : resolve(io.cwd, file))),
      io.stdin,
    )) {
      lines += 1;
      const wrong = replay.line(line);
      if (wrong !== null) {
        skipped += 1;
        io.stderr(`${line.where}: ${wrong}; the line is skipped\n`);
      }
      if (io.interactive && lines % PROGRESS_EVERY_LINES === 0) showProgress(io, replay, lines);
    }
  } catch (error) {
    io.stderr(`slowburn replay: ${(error as Error).message}\n`);
    return EXIT.failed;
  }
  replay.finish(until);
  if (io.interactive) showProgress(io, replay, lines, '\n');
  return skipped > 0 ? EXIT.findings : EXIT.fine;
}

function showProgress(io: CommandIo, replay: Replay, lines: number, end = ''): void {
  const now = replay.now();
  io.stderr(`\r${lines} lines, ${replay.points()} points, at ${now === null ? '-' : formatInstant(now)}${end}`);
}
