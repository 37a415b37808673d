import type { Logger } from 'pino';
import { AppError } from '../base/app-error.ts';
import type { EpochMs } from '../base/units.ts';
import type { IngestLog } from '../store/ingest-log.ts';
import { loadNewestSnapshot, saveSnapshot } from '../store/snapshot-file.ts';
import type { Engine } from './engine.ts';
import type { Ingest } from './ingest.ts';

/** How often the state is written, so that a start reads little of the log. */
const SNAPSHOT_EVERY_MS = 300_000;

export interface Snapshots {
  /** Newest snapshot, then the rest of the log. */
  recover(): { readonly records: number; readonly points: number };
  save(): void;
  saveIfDue(now: EpochMs): void;
}

/** Of the state below; a snapshot of another one cannot be read. */
const FORMAT = 4;

type EngineState = {
  readonly format: number;
  readonly aggregate: ReturnType<Engine['aggregate']['snapshot']>;
  readonly series: ReturnType<Engine['series']['snapshot']>;
};

/**
 * State of cells and series in a file, with the log position up to which it holds; the log behind it is then
 * trimmed.
 */
export function createSnapshots(deps: {
  directory: string;
  engine: Engine;
  ingest: Ingest;
  log: IngestLog;
  logger: Logger;
}): Snapshots {
  const { engine, ingest, log, logger } = deps;
  let savedAt = 0;
  let points = -1;

  const save = (): void => {
    const accepted = engine.series.counters().get('accepted') ?? 0;
    if (accepted === points) return;
    const position = ingest.appliedPosition();
    const state: EngineState = {
      format: FORMAT,
      aggregate: engine.aggregate.snapshot(),
      series: engine.series.snapshot(),
    };
    const neededFrom = saveSnapshot(deps.directory, { position, state });
    points = accepted;
    log.trim(neededFrom);
  };

  return {
    recover() {
      const found = loadNewestSnapshot(deps.directory, (file) =>
        logger.warn({ file }, 'a snapshot is damaged and set aside; an older one and the log take its place'),
      );
      if (found !== null) {
        const state = found.state as EngineState;
        if (state.format !== FORMAT) {
          throw new AppError('STORE_SNAPSHOT_FORMAT', `the snapshot in ${deps.directory} is of another version`, {
            hint: 'start the version that wrote it, or another data directory',
          });
        }
        engine.aggregate.restore(state.aggregate);
        engine.series.restore(state.series);
      }
      return ingest.recover(found?.position ?? null);
    },
    save,
    saveIfDue(now) {
      if (savedAt === 0) savedAt = now;
      if (now - savedAt < SNAPSHOT_EVERY_MS) return;
      savedAt = now;
      try {
        save();
      } catch (error) {
        logger.error({ err: error }, 'snapshot failed; the ingest log is kept and the next one is tried in 5 min');
      }
    },
  };
}
