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
    chance: { kind: 'share', text: 'Largest chance that errors as usual would be as many.' },
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
  [ALERT.handshakeStorm]: {
    fullAboveBaseline: { kind: 'factor', text: 'Full handshakes are this many times their baseline.' },
    aboveRequests: { kind: 'factor', text: 'They have grown this many times as much as requests.' },
    resumptionShare: { kind: 'share', text: 'Or the resumed share is below this share of its baseline.' },
    minEvents: { kind: 'count', text: 'Handshakes that the window must hold; it grows until so many were due.' },
    minExpected: { kind: 'count', text: 'Handshakes that the baseline must expect in the window.' },
    holdFor: { kind: 'duration', text: 'The shortest window that is judged.' },
  },
  [ALERT.balancerSaturation]: {
    utilization: { kind: 'share', text: 'CPU above this is saturated.' },
    clearBelow: { kind: 'share', text: 'CPU below this ends the alert.' },
    addedP99: { kind: 'duration', text: 'Added latency p99 above which a region with all zones saturated pages.' },
    minEvents: { kind: 'count', text: 'Requests that the p99 must rest on.' },
    holdFor: { kind: 'duration', text: 'The shortest window that is judged.' },
  },
  [ALERT.stageTailShift]: {
    tailAboveBaseline: { kind: 'factor', text: 'The p99 of requests is this many times its baseline.' },
    minRise: { kind: 'duration', text: 'And this much above it.' },
    backendFlat: { kind: 'factor', text: 'The p95 of hosts is at most this many times its baseline.' },
    explainsShare: { kind: 'share', text: 'Share of the new tail that a stage must explain to be named.' },
    minEvents: { kind: 'count', text: 'Requests that the window must hold.' },
    holdFor: { kind: 'duration', text: 'The window that is judged.' },
  },
  [ALERT.acceptQueueSaturation]: {
    fullShare: { kind: 'share', text: 'A queue filled to this share of its limit is nearly full.' },
    minOverflows: { kind: 'count', text: 'Connections turned away that count.' },
    overflowsAboveBaseline: { kind: 'factor', text: 'They are this many times their baseline.' },
    waitP99: { kind: 'duration', text: 'The p99 of the wait that counts.' },
    waitAboveBaseline: { kind: 'factor', text: 'It is this many times its baseline.' },
    minEvents: { kind: 'count', text: 'Connections that the p99 must rest on.' },
    holdFor: { kind: 'duration', text: 'The window that is judged.' },
  },
  [ALERT.configPushRegression]: {
    window: { kind: 'duration', text: 'What is compared of the time before and after the change.' },
    watchFor: { kind: 'duration', text: 'How long after its first balancer a version is watched.' },
    bakeFor: { kind: 'duration', text: 'A version that is younger is held, not promoted.' },
    errorsAbove: { kind: 'factor', text: 'The 5xx ratio is this many times the other one.' },
    errorsRise: { kind: 'share', text: 'And this much above it.' },
    latencyAbove: { kind: 'factor', text: 'The added latency p99 is this many times the other one.' },
    latencyRise: { kind: 'duration', text: 'And this much above it.' },
    cpuRise: { kind: 'share', text: 'CPU is this much above the other one, and higher per request.' },
    minEvents: { kind: 'count', text: 'Requests that each side must have.' },
  },
  [ALERT.configPushUnstaged]: {
    stageFor: { kind: 'duration', text: 'Canaries have a version for so long before other balancers get it.' },
    canaryShare: { kind: 'share', text: 'Share of the balancers that are canaries at most; one always is.' },
    tellFor: { kind: 'duration', text: 'The alert ends so long after the version was first seen.' },
  },
  [ALERT.configDrift]: {
    rejectedWithin: { kind: 'duration', text: 'An update that was refused within this time, and none taken since.' },
    behindFor: { kind: 'duration', text: 'Most balancers of a stage have had a version for so long.' },
    propagationP99: { kind: 'duration', text: 'p99 of the time until balancers use changed hosts.' },
    propagationWindow: { kind: 'duration', text: 'The window of that p99.' },
    minEvents: { kind: 'count', text: 'Changes of hosts that this p99 must rest on.' },
  },
  [ALERT.configBudgetSpent]: {
    share: { kind: 'share', text: 'Share of an error budget that config rollouts have used.' },
    clearBelow: { kind: 'share', text: 'Below this share the alert ends.' },
    settleFor: { kind: 'duration', text: 'A rollout counts for so long after its last balancer.' },
    tellFor: { kind: 'duration', text: 'The alert ends so long after the last rollout, until the next one.' },
    minEvents: { kind: 'count', text: 'Bad events, or slices, that this must rest on.' },
  },
  [ALERT.l4Rehash]: {
    changeWithin: { kind: 'duration', text: 'The number of L4 nodes or balancers changed within this time.' },
    window: { kind: 'duration', text: 'What is counted of the time after the change.' },
    minResets: { kind: 'count', text: 'Connections reset, and flows not known where that is told.' },
    resetsAboveBaseline: { kind: 'factor', text: 'They are this many times as many as usual.' },
    resetShare: { kind: 'share', text: 'Share of the open connections, beyond those of balancers that came or went.' },
    handshakesAboveBaseline: { kind: 'factor', text: 'Full handshakes are this many times as many as usual.' },
  },
  [ALERT.streamSaturation]: {
    holdFor: { kind: 'duration', text: 'The window that is judged.' },
    fullShare: { kind: 'share', text: 'Connections to a host filled to this share of their limit are nearly full.' },
    minRejected: { kind: 'count', text: 'Requests that found no place on a connection.' },
    rejectedAboveBaseline: { kind: 'factor', text: 'They are this many times their baseline.' },
    stalledShare: { kind: 'share', text: 'Share of the streams to a host that do not move.' },
    minStreams: { kind: 'count', text: 'And so many streams.' },
    tailAbovePeers: { kind: 'factor', text: 'The p99 of one connection is this many times that of the others.' },
    minRise: { kind: 'duration', text: 'And this much above it.' },
    loadAbovePeers: { kind: 'factor', text: 'While it carries at most this many times the streams of the others.' },
    minEvents: { kind: 'count', text: 'Requests that each side of that must have.' },
  },
  [ALERT.certificateRenewalStalled]: {
    daysLeft: {
      kind: 'duration',
      text: 'Less left than this, without a renewal, is stalled; a sixth of a short lifetime.',
    },
    unrenewedFor: { kind: 'duration', text: 'Time in which a renewal must have been seen.' },
    earlyDaysLeft: { kind: 'duration', text: 'Ticket at this much left where nothing is known of renewals.' },
    pageDaysLeft: { kind: 'duration', text: 'Page at this much left, whatever is known.' },
  },
  [ALERT.fastFailSinkhole]: {
    window: { kind: 'duration', text: 'The window that is judged.' },
    chance: { kind: 'share', text: 'Largest chance that a host as good as its peers fails as often.' },
    timesPeers: { kind: 'factor', text: 'Errors are this many times those of its peers.' },
    above: { kind: 'share', text: 'And lie this far above them.' },
    minErrors: { kind: 'count', text: 'Errors that the window must hold.' },
    timeShare: { kind: 'share', text: 'Its requests take at most this share of the time of its peers.' },
    shareRise: { kind: 'factor', text: 'Or its share of the traffic is this many times its usual one.' },
    minEvents: { kind: 'count', text: 'Requests to it that a growing share must rest on.' },
    minExpected: { kind: 'count', text: 'Requests that were due by its usual share; and whose time must be known.' },
    ejections: { kind: 'count', text: 'Or one balancer ejects it so often.' },
    ejectionsWithin: { kind: 'duration', text: 'Within this time. A host that fires stays until this time is clean.' },
  },
  [ALERT.drainCut]: {
    window: { kind: 'duration', text: 'What is looked at.' },
    minResets: { kind: 'count', text: 'Requests cut on hosts that drain or have just left.' },
    resetsAbove: { kind: 'factor', text: 'Each of them has this many times as many as hosts that stay, or as usual.' },
    drain: { kind: 'duration', text: 'The drain that is configured; ours to compare with, it changes no balancer.' },
  },
  [ALERT.coldStart]: {
    window: { kind: 'duration', text: 'The first time of a new host, in which it is judged.' },
    tellFor: { kind: 'duration', text: 'The alert ends so long after the last new host.' },
    slower: { kind: 'factor', text: 'Requests of new hosts take this many times as long as those of the others.' },
    timesPeers: { kind: 'factor', text: 'Or their errors are this many times those of the others.' },
    above: { kind: 'share', text: 'And lie this far above them.' },
    minEvents: { kind: 'count', text: 'Requests of new hosts that this must rest on.' },
    warmUp: { kind: 'duration', text: 'The warm-up that is configured, to compare with.' },
    grace: { kind: 'duration', text: 'The grace before readiness that is configured, to compare with.' },
    cooldown: { kind: 'duration', text: 'The pause between two scale-outs that is configured, to compare with.' },
  },
  [ALERT.hostOutlier]: {
    window: { kind: 'duration', text: 'The window in which a busy host is judged.' },
    longWindow: {
      kind: 'duration',
      text: 'The window in which a quiet one is; a host that fires stays until it is clean.',
    },
    windows: { kind: 'count', text: 'Windows running in which it must stand out.' },
    chance: { kind: 'share', text: 'Largest chance that a host as good as its peers fails as often.' },
    timesPeers: { kind: 'factor', text: 'Errors, or mean time, are this many times those of its peers.' },
    above: { kind: 'share', text: 'Errors lie this far above those of its peers.' },
    minErrors: { kind: 'count', text: 'Errors that a window must hold.' },
    minEvents: { kind: 'count', text: 'Requests of a host whose time must be known before times are compared.' },
  },
  [ALERT.ejectionCapReached]: {
    refusedWithin: { kind: 'duration', text: 'An ejection was refused within this time.' },
    cap: { kind: 'share', text: 'Share of a pool that balancers eject at most; theirs is not told to us.' },
    minOut: { kind: 'count', text: 'Hosts out before the next ejection is of interest.' },
    window: { kind: 'duration', text: 'The window in which requests without a healthy host are counted.' },
    minUnserved: { kind: 'count', text: 'Requests without a healthy host that page.' },
    unservedShare: { kind: 'share', text: "If they are this share of the cluster's requests." },
  },
  [ALERT.healthCheckCascade]: {
    window: {
      kind: 'duration',
      text: 'Readings of health that are judged together; at least two pushes of each balancer.',
    },
    healthyShare: { kind: 'share', text: 'A smaller share of healthy hosts pages.' },
    minHosts: { kind: 'count', text: 'In pools of at least so many hosts.' },
    panicRequests: { kind: 'count', text: 'Requests sent regardless of health that page too.' },
    panicShare: { kind: 'share', text: "If they are this share of the cluster's requests." },
    fallBy: { kind: 'share', text: 'A cluster falls when it loses this share of its hosts within a minute.' },
    fallHosts: { kind: 'count', text: 'And so many hosts.' },
    fallClusters: { kind: 'count', text: 'So many clusters falling at once are one page for the fleet.' },
    fallClusterShare: { kind: 'share', text: 'If they are this share of all clusters.' },
  },
  [ALERT.healthCheckFlapping]: {
    changes: {
      kind: 'count',
      text: 'A host that changes its health more often fires; it stays until it changes half as often.',
    },
    within: { kind: 'duration', text: 'Within this time.' },
  },
  [ALERT.zoneSkew]: {
    maxOverMean: { kind: 'factor', text: "The hottest zone's use of its capacity over that of the cluster." },
    heldFor: { kind: 'duration', text: 'For this long.' },
    minUtilization: { kind: 'share', text: 'Utilization of the hottest zone below which nothing is said.' },
    minEvents: { kind: 'count', text: 'Requests of the cluster in a twelfth of that time.' },
    minExpected: { kind: 'count', text: 'Requests that the zone was due of them.' },
  },
  [ALERT.notificationsFailing]: {
    after: { kind: 'duration', text: 'A message that waits for so long has not arrived.' },
  },
  [ALERT.watchdog]: {
    every: { kind: 'duration', text: 'Pace of the heartbeat.' },
  },
};
