import { ALERT } from '../model/conventions.ts';

/** How a threshold is written: a duration (kept in ms), a whole count, a share of 1, or a factor above 0. */
export type ThresholdKind = 'duration' | 'count' | 'share' | 'factor';

export interface ThresholdKey {
  readonly kind: ThresholdKind;
  readonly text: string;
}

/** The thresholds that `detectors.yaml` may set, by detector. Their defaults are in the shipped file. */
export const DETECTOR_THRESHOLDS: Readonly<Record<string, Readonly<Record<string, ThresholdKey>>>> = {
  [ALERT.hostEjections]: {
    smallPoolHosts: { kind: 'count', text: 'In a pool with fewer hosts any ejection counts.' },
    rounds: { kind: 'count', text: 'Rounds of ejection of one host that count in a larger pool.' },
    roundsWithin: { kind: 'duration', text: 'The time in which those rounds fall.' },
    roundGap: { kind: 'duration', text: 'Balancers ejecting a host within this time are one round.' },
    outShare: { kind: 'share', text: 'Share of a cluster that is out at once.' },
  },
  [ALERT.upstreamErrors]: {
    ratioAboveBaseline: { kind: 'factor', text: 'The 5xx ratio is this many times its baseline.' },
    minRatio: { kind: 'share', text: 'A 5xx ratio below this is never above baseline.' },
    minEvents: { kind: 'count', text: 'Requests that the window must hold.' },
    minExpected: { kind: 'count', text: 'Requests that the baseline must expect in the window.' },
    holdFor: { kind: 'duration', text: 'The window that is judged.' },
  },
  [ALERT.trafficStopped]: {
    baselineShare: { kind: 'share', text: 'Requests below this share of the baseline mean stopped.' },
    minExpected: { kind: 'count', text: 'Requests that were due; the window grows until they were.' },
    holdFor: { kind: 'duration', text: 'The shortest window that is judged.' },
  },
  [ALERT.telemetryLost]: {
    silentFor: { kind: 'duration', text: 'Silence of all balancers of an SLO that pages.' },
    ownIntervals: { kind: 'count', text: 'Push intervals of its own that a balancer may miss.' },
  },
  [ALERT.watchdog]: {
    every: { kind: 'duration', text: 'Pace of the heartbeat.' },
  },
};
