import { type EpochMs, epochMs } from '../base/units.ts';
import type { NotedReason, PassedReason, RejectedReason } from './reasons.ts';

/** What applying one point came to. */
export type PointResult = 'accepted' | RejectedReason | PassedReason;

/** The point in hand, shared by the appliers: nothing is allocated per point. */
export interface PointContext {
  timeMs: number;
  timeSubNs: number;
  startMs: number;
  startSubNs: number;
  /** How far the point's interval is moved back because it lies ahead of our clock. */
  shiftMs: number;
  isDelta: boolean;
  note(reason: NotedReason): void;
}

/** Where a time of the point is placed. */
export const shifted = (at: number, context: PointContext): EpochMs => epochMs(at - context.shiftMs);
