import { CorrectionBook } from '../aggregate/correction-book.ts';
import type { SloCells } from '../aggregate/view.ts';
import type { EpochMs } from '../base/units.ts';
import { correctionEffect } from '../burn/correction-effect.ts';
import { zoneRulesOf } from '../config/zone-rules.ts';
import type { Correction } from '../model/correction.ts';
import { labelsToObject } from '../model/labels.ts';
import type {
  BadField,
  Commands,
  CorrectionDetailView,
  CorrectionEffectView,
  CorrectionOutcome,
  CorrectionPreviewView,
  CorrectionRequest,
  CorrectionView,
  Queries,
} from '../model/views.ts';
import type { CorrectionStore } from '../store/correction-store.ts';
import { readCorrection } from './correction-input.ts';
import { nextTime, toAuditEntryView, toCorrectionView } from './correction-views.ts';

/** Effects are read from the cells when they are asked for: of so many groups at most. */
const EFFECTS_MAX = 200;

export interface CorrectionsDeps {
  readonly store: CorrectionStore;
  /** What the evaluator reads through; it hears of every change. */
  readonly book: CorrectionBook;
  readonly cells: SloCells;
  readonly slos: () => ReadonlySet<string>;
}

/** Both sides of corrections: what people ask for, and what comes of it. In force from the next tick on. */
export interface Corrections {
  list(filter: Parameters<Queries['corrections']>[0], now: EpochMs): ReturnType<Queries['corrections']>;
  detail(id: number, now: EpochMs): CorrectionDetailView | null;
  /** What it would do; nothing is kept. */
  preview(request: CorrectionRequest, now: EpochMs): CorrectionPreviewView | BadField;
  create(request: CorrectionRequest, now: EpochMs): CorrectionOutcome;
  change(id: number, change: Parameters<Commands['changeCorrection']>[1], now: EpochMs): CorrectionOutcome;
}

/** Takes up what the store holds. */
export function createCorrections({ store, book, cells, slos }: CorrectionsDeps): Corrections {
  const held = new Map(store.list().map((correction) => [correction.id, correction]));
  const keep = (correction: Correction): void => {
    held.set(correction.id, correction);
    book.replace([...held.values()]);
  };
  book.replace([...held.values()]);

  const effectsOf = (id: number, now: EpochMs, through = book): CorrectionPreviewView => {
    const effects: CorrectionEffectView[] = [];
    let groups = 0;
    for (const group of cells.groups()) {
      const view = through.view(group, now);
      if (view.corrected?.exclusion.sources.some((source) => source.id === id) !== true) continue;
      groups += 1;
      if (groups > EFFECTS_MAX) continue;
      const effect = correctionEffect(id, view, through.without(id, group, now), cells.feed(group, now), now);
      if (effect === null) continue;
      const { good, bad, before, after } = effect;
      const labels = labelsToObject(group.labels);
      effects.push({ slo: group.slo.id, labels, good, bad, budgetBefore: before, budgetAfter: after });
    }
    return { groups, effects };
  };

  const detailOf = (correction: Correction, now: EpochMs): CorrectionDetailView => ({
    ...toCorrectionView(correction, zoneRulesOf, now),
    ...effectsOf(correction.id, now),
    audit: store.audit(correction.id).map(toAuditEntryView),
  });

  return {
    list({ state, cursor, limit }, now) {
      const before = cursor === null ? Number.POSITIVE_INFINITY : Number(cursor);
      const items: CorrectionView[] = [];
      for (const correction of [...held.values()].reverse()) {
        if (correction.id >= before) continue;
        const view = toCorrectionView(correction, zoneRulesOf, now);
        if (state !== null && view.state !== state) continue;
        const last = items.at(-1);
        if (items.length === limit && last !== undefined) return { items, next: String(last.id) };
        items.push(view);
      }
      return { items, next: null };
    },

    detail(id, now) {
      const correction = held.get(id);
      return correction === undefined ? null : detailOf(correction, now);
    },

    preview(request, now) {
      const draft = readCorrection(request, now, slos(), zoneRulesOf);
      if (draft.kind === 'bad_field') return draft;
      const id = 1 + Math.max(0, ...held.keys());
      const trial = new CorrectionBook(zoneRulesOf);
      trial.replace([...held.values(), { ...draft, id, ended: null, undone: null }]);
      return effectsOf(id, now, trial);
    },

    create(request, now) {
      const draft = readCorrection(request, now, slos(), zoneRulesOf);
      if (draft.kind === 'bad_field') return draft;
      const correction = store.add(draft);
      keep(correction);
      return { kind: 'done', correction: detailOf(correction, now) };
    },

    change(id, { kind, by, reason }, now) {
      const before = held.get(id);
      if (before === undefined) return { kind: 'not_found' };
      const conflict = conflictOf(before, kind, now);
      if (conflict !== null) return { kind: 'conflict', message: conflict };
      const after = store.change(id, kind, { at: now, by, reason });
      keep(after);
      return { kind: 'done', correction: detailOf(after, now) };
    },
  };
}

function conflictOf(correction: Correction, change: 'end' | 'undo', now: EpochMs): string | null {
  const { id, undone } = correction;
  if (undone !== null) return `correction ${id} was undone by ${undone.by}; make a new one`;
  if (change === 'end' && nextTime(correction, zoneRulesOf, now) === null) {
    return `correction ${id} is over; undo takes it back altogether`;
  }
  return null;
}
