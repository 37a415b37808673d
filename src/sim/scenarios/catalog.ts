import { coldStart, drainTooShort } from './come-and-go.ts';
import {
  configBudgetSpent,
  configDrift,
  configPushCanary,
  configPushGlobal,
  configPushUnstaged,
} from './config-pushes.ts';
import { acceptQueue, certificateStalled, launchDay, ticketRotation } from './edge.ts';
import { healthCascade, healthCascadePanic, healthFlapping } from './health.ts';
import { l4Consistent, l4Rehash } from './l4.ts';
import { noisyNeighbour } from './neighbours.ts';
import { dependencySlow, retryLayers } from './overload.ts';
import { cleanDay, cleanMonth, controlPlaneDead, doubledLoad, quietNight, rollingDeploy } from './quiet-controls.ts';
import { regionLost } from './regions.ts';
import type { Scenario } from './scenario.ts';
import { shadowDrops } from './shadows.ts';
import { telemetryLost, trafficStopped } from './silence.ts';
import { ejectionCap, sinkholeLeastConnections, sinkholeTwoChoices } from './sinkholes.ts';
import { hotKey, scaleOutLongLived, websocketsNat } from './skews.ts';
import { hostsSlow } from './slow-hosts.ts';
import { stalledStream } from './streams.ts';
import { twoSignalCalm, twoSignalChecks } from './two-signals.ts';
import { zoneDrift, zoneHot } from './zones.ts';

/** The closed list, failures first. A new scenario is an entry here. */
export const SCENARIOS: readonly Scenario[] = [
  sinkholeLeastConnections,
  sinkholeTwoChoices,
  ejectionCap,
  hostsSlow,
  healthCascade,
  healthCascadePanic,
  healthFlapping,
  trafficStopped,
  telemetryLost,
  twoSignalChecks,
  configPushGlobal,
  configPushCanary,
  configPushUnstaged,
  configDrift,
  configBudgetSpent,
  ticketRotation,
  launchDay,
  drainTooShort,
  coldStart,
  l4Rehash,
  regionLost,
  zoneHot,
  zoneDrift,
  hotKey,
  scaleOutLongLived,
  websocketsNat,
  noisyNeighbour,
  retryLayers,
  dependencySlow,
  acceptQueue,
  stalledStream,
  certificateStalled,
  cleanDay,
  cleanMonth,
  rollingDeploy,
  quietNight,
  doubledLoad,
  controlPlaneDead,
  l4Consistent,
  twoSignalCalm,
  shadowDrops,
];
