import { formatReview, type ReportFormat, reviewOf } from '../app/review.ts';
import { systemClock } from '../app/system-clock.ts';
import { loadServiceConfig } from '../config/load.ts';
import { formatProblem } from '../config/report.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';
import { describeFailure, readRules } from './serve.ts';

export interface ReportArgs {
  readonly week: string | null;
  readonly format: ReportFormat;
  readonly configPath: string | null;
  readonly dataDir: string | null;
}

/** `slowburn report`: the weekly review of a data directory on stdout. */
export function runReport({ week, format, configPath, dataDir }: ReportArgs, io: CommandIo): ExitCode {
  const { env, cwd, packageDir } = io;
  const given = dataDir === null ? {} : { dataDir };
  const loaded = loadServiceConfig({ configPath, ...given, env, cwd, packageDir });
  if (!loaded.ok) {
    for (const problem of loaded.error) io.stderr(`${formatProblem(problem)}\n`);
    return EXIT.failed;
  }
  const config = loaded.value;
  const rules = readRules(config, io);
  if (rules === null) return EXIT.failed;
  try {
    const review = reviewOf(
      config.dataDir,
      { detectors: rules.detectors, standard: rules.scorecard },
      week,
      systemClock.now(),
    );
    if (review === undefined) {
      io.stderr(`--week ${week} is no ISO week such as 2026-W48.\n`);
      return EXIT.usage;
    }
    io.stdout(formatReview(review, format, config.externalUrl ?? ''));
    return EXIT.fine;
  } catch (error) {
    io.stderr(`The review could not be made: ${describeFailure(error)}\n`);
    return EXIT.failed;
  }
}
