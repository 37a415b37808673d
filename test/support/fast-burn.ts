import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from '../../src/generate/prometheus-rules.ts';
import { ServiceDirectory } from './live-service.ts';

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

const SLO = `apiVersion: openslo/v1
kind: SLO
metadata:
  name: answers
  displayName: Clusters answer
  annotations: { slowburn/group-by: lb.upstream.cluster, slowburn/policy: fast }
spec:
  service: edge
  indicator:
    metadata: { name: answers }
    spec:
      ratioMetric:
        counter: true
        bad: { metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: upstream, lb.response.class: 5xx } } } }
        total: { metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: upstream } } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.999 }]
`;

/** Two page tiers with windows of minutes, the least that rules of one minute's resolution can tell. */
const TIERS = `policies:
  fast:
    confidence: null
    tiers:
      - { name: 50h, severity: page, exhaustsWithin: 50h, long: 5m, short: 2m, minBurn: full, minBadEvents: 2 }
      - { name: 5d, severity: page, exhaustsWithin: 5d, long: 10m, short: 3m, minBurn: full, minBadEvents: 2 }
`;
/** Rules per cluster: one for each tier. */
export const FAST_TIERS = 2;

/** A service whose SLO is judged by rules in another engine, with windows of minutes and an end that is soon told. */
export function fastBurnDirectory(hookUrl: string): ServiceDirectory {
  return new ServiceDirectory({
    rules: {
      'slos/answers.yaml': SLO,
      'tiers.yaml': TIERS,
      'correlation.yaml': 'settings: { resolveHold: 30s }\n',
    },
    config: `receivers: [{ name: oncall, type: webhook, url: "${hookUrl}" }]\n`,
  });
}

/** The rule file that `slowburn generate` writes for it. */
export async function generatedRules(directory: ServiceDirectory, engine: Engine): Promise<string> {
  const out = join(directory.path, 'generated');
  const args = ['generate', '--rules', join(directory.path, 'rules'), '--out', out, '--engine', engine];
  await run(process.execPath, [MAIN, ...args]);
  return join(out, 'answers.yaml');
}
