import type { TrafficStandard } from '../model/scorecard.ts';
import { alertNames } from './alert-names.ts';
import type { Report } from './report.ts';
import { resolveDuration } from './resolve-window.ts';
import { child, items, numberOf, type SourceNode } from './source.ts';

/** What holds where no file says anything: nothing can be met, so that a shipped file that lacks a key is noticed. */
export const EMPTY_STANDARD: TrafficStandard = {
  addedLatencyP99Ms: 0,
  resumptionAtPeak: 1,
  configBudget: 0,
  retryingServices: 0,
  amplifiedIncidents: 0,
  crowdedPools: 0,
  amplifying: [],
  longLivedConnections: 0,
  longLivedMs: 0,
  handshakeMs: null,
  balancerCores: null,
};

/** A scorecard.yaml that has passed its schema; what it leaves out comes from `base`. */
export function resolveScorecard(root: SourceNode, base: TrafficStandard, report: Report): TrafficStandard {
  const targets = child(root, 'targets');
  const longLived = child(root, 'longLived');
  const target = (key: string): number | undefined => numberOf(child(targets, key));
  const amplifying = child(root, 'amplifying');
  return {
    addedLatencyP99Ms: positive(targets, 'addedLatencyP99', report) ?? base.addedLatencyP99Ms,
    resumptionAtPeak: target('resumptionAtPeak') ?? base.resumptionAtPeak,
    configBudget: target('configBudget') ?? base.configBudget,
    retryingServices: target('retryingServices') ?? base.retryingServices,
    amplifiedIncidents: target('amplifiedIncidents') ?? base.amplifiedIncidents,
    crowdedPools: target('crowdedPools') ?? base.crowdedPools,
    amplifying: amplifying === undefined ? base.amplifying : alertNames(items(amplifying), report),
    longLivedConnections: numberOf(child(longLived, 'connections')) ?? base.longLivedConnections,
    longLivedMs: positive(longLived, 'livesFor', report) ?? base.longLivedMs,
    handshakeMs: handshakeCost(root, report) ?? base.handshakeMs,
    balancerCores: numberOf(child(root, 'balancerCores')) ?? base.balancerCores,
  };
}

function positive(node: SourceNode | undefined, key: string, report: Report): number | undefined {
  const value = child(node, key);
  const duration = resolveDuration(value, key, report);
  if (value === undefined || duration !== 0) return duration;
  report.error(value.at, {
    code: 'CONFIG_VALUE_INVALID',
    message: `${key} is no time at all`,
    fix: 'write a duration above 0, such as 5ms or 10m',
  });
  return undefined;
}

function handshakeCost(root: SourceNode, report: Report): TrafficStandard['handshakeMs'] {
  const node = child(root, 'handshakeMs');
  const [full, resumed] = [numberOf(child(node, 'full')), numberOf(child(node, 'resumed'))];
  if (node === undefined || full === undefined || resumed === undefined) return null;
  if (resumed > full) {
    report.error(node.at, {
      code: 'CONFIG_VALUE_INVALID',
      message: `a resumed handshake of ${resumed} ms cannot cost more than a full one of ${full} ms`,
      fix: 'write what a full handshake costs under full, and a resumed one under resumed',
    });
  }
  return { full, resumed };
}
