import type { LevelSpec } from './count-level.ts';

/** Whole steps of one level, both ends included. */
export interface Segment {
  readonly level: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Which steps of which levels make up a window, and the edges that they really cover (milliseconds since the epoch).
 */
export interface RangePlan {
  readonly from: number;
  readonly to: number;
  readonly segments: readonly Segment[];
}

const floorTo = (at: number, stepMs: number): number => Math.floor(at / stepMs) * stepMs;

/** The oldest edge that a level still holds when `newestAt` is the newest step's end. */
const oldestEdge = (spec: LevelSpec, newestAt: number): number =>
  (Math.ceil(newestAt / spec.stepMs) - spec.steps) * spec.stepMs;

/**
 * Plans the sum over (from, to]. Levels are given finest first. The finest level that still holds `from` serves the old
 * part, with `from` rounded down to its step; what of `to` is not a whole step of it comes from finer levels. A window
 * older than everything kept begins at the oldest edge. A `to` inside a step of which no finer level knows the parts is
 * rounded down.
 */
export function planRange(levels: readonly LevelSpec[], newestAt: number, from: number, to: number): RangePlan {
  const finest = levels[0] as LevelSpec;
  let end = floorTo(to, finest.stepMs);
  if (end <= from || newestAt === Number.NEGATIVE_INFINITY) {
    const start = Math.min(floorTo(from, finest.stepMs), end);
    return { from: start, to: end, segments: [] };
  }
  const holding = levels.findIndex((spec) => floorTo(from, spec.stepMs) >= oldestEdge(spec, newestAt));
  const level = holding === -1 ? levels.length - 1 : holding;
  const spec = levels[level] as LevelSpec;
  const start = holding === -1 ? Math.min(oldestEdge(spec, newestAt), end) : floorTo(from, spec.stepMs);
  const segments: Segment[] = [];
  let edge = start;
  for (let index = level; index >= 0 && edge < end; index -= 1) {
    const { stepMs } = levels[index] as LevelSpec;
    if (edge < oldestEdge(levels[index] as LevelSpec, newestAt)) break;
    const next = floorTo(end, stepMs);
    if (next <= edge) continue;
    segments.push({ level: index, first: edge / stepMs + 1, last: next / stepMs });
    edge = next;
  }
  if (edge < end) end = edge;
  return { from: start, to: end, segments };
}
