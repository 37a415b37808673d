import { AppError } from '../base/app-error.ts';
import type { EpochMs } from '../base/units.ts';
import { ForeignBook, type IntakeFate } from '../correlate/foreign/book.ts';
import { MeasuredLabels } from '../correlate/foreign/measured-labels.ts';
import { readNews } from '../correlate/foreign/read-news.ts';
import type { ForeignNews, ForeignRecord, Way } from '../correlate/foreign/record.ts';
import { type ReportingBalancer, telemetryOf } from '../correlate/foreign/telemetry.ts';
import type { CorrelationSettings } from '../correlate/settings.ts';
import type { Alert, AlertChange } from '../model/alert.ts';
import type { AlertsReceived, RefusedAlert } from '../model/views.ts';
import type { ForeignAlertStore } from '../store/foreign-alert-store.ts';

/** Alerts of one message; those behind are refused. Prometheus sends 256 by default. */
const BATCH_MAX = 5000;
/** Alerts of one message that are told what is wrong with them. */
const REFUSALS_TOLD_MAX = 100;

/** Alerts raised elsewhere (Prometheus, vmalert, Mimir, Thanos, Alertmanager) that are correlated with our own. */
export interface ForeignAlerts {
  /**
   * Takes alerts received at `now`. What is accepted is stored when this returns. One bad alert does not fail the
   * others. Throws AppError STORE_UNWRITABLE (retryable) when the disk refuses; then nothing was taken.
   */
  receive(alerts: readonly unknown[], way: Way, now: EpochMs): AlertsReceived;
  /** What the correlator must hear now, ends by time included. */
  due(now: EpochMs): readonly AlertChange[];
  /** How many are held, ended ones included. */
  held(): number;
}

export interface ForeignAlertsDeps {
  readonly settings: CorrelationSettings;
  readonly store: ForeignAlertStore;
  /** Every alert that the correlator was last told as firing. */
  readonly firing: () => readonly Alert[];
  readonly balancers: (now: EpochMs) => readonly ReportingBalancer[];
  /** Hears of what a person should mend at the sender. */
  readonly onWarning?: (fields: object, message: string) => void;
  /** Counts what came of each message. */
  readonly onReceived?: (way: Way, received: AlertsReceived) => void;
  readonly capacity?: number;
}

/** Takes up what the store holds. */
export function createForeignAlerts(deps: ForeignAlertsDeps): ForeignAlerts {
  const { settings, store } = deps;
  const book = new ForeignBook(deps.capacity);
  const measured = new MeasuredLabels();
  book.restore(store.load());

  const warn = (batch: readonly ForeignNews[], fates: readonly IntakeFate[]): void => {
    for (const [index, { alert, id }] of batch.entries()) {
      if (fates[index] !== 'news' || book.knows(id)) continue;
      for (const { alert: name, label } of measured.note(alert.name, alert.labels, settings.ignoreLabels)) {
        deps.onWarning?.(
          { alert: name, label },
          `alerts named ${name} differ only in the number of label ${label}, so that each reading is an alert of its own: ` +
            'drop the label at its sender, or name it in settings.ignoreLabels of correlation.yaml',
        );
      }
    }
  };

  /** Where the disk refuses, what is forgotten is kept for a later tick. */
  const tidy = (continued: readonly ForeignRecord[], forgotten: readonly string[]): void => {
    if (continued.length + forgotten.length === 0) return;
    let dropped = forgotten;
    try {
      store.write(continued, forgotten);
    } catch (error) {
      if (!(error instanceof AppError && error.retryable)) throw error;
      dropped = [];
    }
    book.take({ records: new Map(continued.map((record) => [record.id, record])), dropped });
  };

  return {
    receive(alerts, way, now) {
      const { news, refused } = readBatch(alerts, way, settings, now);
      const bad = refused.length;
      const batch = news.map((one) => one.news);
      const { fates, ...intake } = book.plan(batch, now);
      if (intake.records.size + intake.dropped.length > 0) store.write(intake.records.values(), intake.dropped);
      warn(batch, fates);
      book.take(intake);
      const count = (fate: IntakeFate): number => fates.filter((one) => one === fate).length;
      for (const [position, { index }] of news.entries()) {
        if (fates[position] === 'full') refused.push({ index, reason: 'no room: too many alerts are held already' });
      }
      const beyond = Math.max(0, alerts.length - BATCH_MAX);
      if (beyond > 0) refused.push({ index: BATCH_MAX, reason: `a message may have ${BATCH_MAX} alerts` });
      const received: AlertsReceived = {
        accepted: count('news'),
        ignored: count('stale') + count('stray'),
        bad,
        overLimit: count('full') + beyond,
        refused: refused.sort((a, b) => a.index - b.index).slice(0, REFUSALS_TOLD_MAX),
      };
      deps.onReceived?.(way, received);
      return received;
    },

    due(now) {
      const told = new Map<string, Alert>();
      for (const alert of deps.firing()) if (alert.foreign !== undefined) told.set(alert.key, alert);
      if (book.size + told.size === 0) return [];
      const balancers = deps.balancers(now);
      const { changes, continued, forgotten } = book.due(told, (place) => telemetryOf(place, balancers), now);
      tidy(continued, forgotten);
      return changes;
    },

    held: () => book.size,
  };
}

/** The alerts of one message that are understood, each with its place in it, and those that are not. */
function readBatch(alerts: readonly unknown[], way: Way, settings: CorrelationSettings, now: EpochMs) {
  const news: { readonly index: number; readonly news: ForeignNews }[] = [];
  const refused: RefusedAlert[] = [];
  for (const [index, value] of alerts.slice(0, BATCH_MAX).entries()) {
    const read = readNews(value, way, settings, now);
    if (typeof read === 'string') refused.push({ index, reason: read });
    else news.push({ index, news: read });
  }
  return { news, refused };
}
