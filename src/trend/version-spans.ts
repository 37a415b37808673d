import type { ConfigRun } from '../aggregate/features.ts';
import { STEP_MS } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';

/** A balancer ran one version for all of (from, to], in whole steps. */
export interface VersionSpan {
  readonly balancer: string;
  readonly kind: string;
  readonly version: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/**
 * Which version each balancer ran when in (from, to]: spans of one balancer and kind follow each other without a gap.
 * What is counted by the push that first tells a version was counted before it, at least in part: it is of the version
 * before. What came before the first run is of the first.
 */
export function* versionSpans(runs: readonly ConfigRun[], from: EpochMs, to: EpochMs): Generator<VersionSpan> {
  const senders = new Map<string, ConfigRun[]>();
  for (const run of runs) {
    const key = JSON.stringify([run.balancer, run.kind]);
    const list = senders.get(key);
    if (list === undefined) senders.set(key, [run]);
    else list.push(run);
  }
  for (const [, own] of [...senders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const ordered = [...own].sort((a, b) => a.since - b.since);
    for (const [index, { balancer, kind, version, since }] of ordered.entries()) {
      const next = ordered[index + 1]?.since;
      const start = index === 0 ? from : Math.max(from, stepEnd(since));
      const end = next === undefined ? to : Math.min(to, stepEnd(next));
      if (start < end) yield { balancer, kind, version, from: epochMs(start), to: epochMs(end) };
    }
  }
}

const stepEnd = (at: EpochMs): number => Math.ceil(at / STEP_MS) * STEP_MS;
