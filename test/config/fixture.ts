import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ALERT } from '../../src/model/conventions.ts';

export const PACKAGE = path.resolve(import.meta.dirname, '../..');
export const SHIPPED = path.join(PACKAGE, 'rules');

export interface Folder {
  readonly root: string;
  /** Writes files by relative path; returns the folder. */
  write(files: Readonly<Record<string, string>>): Folder;
  path(name: string): string;
  remove(): void;
}

/** A folder in the system's temporary directory. */
export function createFolder(): Folder {
  const root = mkdtempSync(path.join(os.tmpdir(), 'slowburn-config-'));
  const folder: Folder = {
    root,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
        writeFileSync(path.join(root, name), text);
      }
      return folder;
    },
    path: (name) => path.join(root, name),
    remove: () => rmSync(root, { recursive: true }),
  };
  return folder;
}

/** One empty runbook for every alert that the shipped rules name. */
export const RUNBOOKS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(ALERT).map((name) => [`runbooks/${name}.md`, `# ${name}\n`]),
);

/** The example of the design, as it stands there. */
export const CHECKOUT = `apiVersion: openslo/v1
kind: SLO
metadata:
  name: checkout-availability
  displayName: Checkout answers without server errors
  labels: { team: edge }
  annotations:
    slowburn/group-by: lb.upstream.cluster
    slowburn/policy: workbook
spec:
  service: checkout
  indicator:
    metadata: { name: checkout-requests }
    spec:
      ratioMetric:
        counter: true
        bad:   { metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: downstream, lb.response.class: 5xx } } } }
        total: { metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: downstream } } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ displayName: availability, target: 0.999 }]
`;

const source = (spec: string): string => `{ metricSource: { type: slowburn, spec: ${spec} } }`;

/** An SLO file with the given pieces. */
export function sloText(options: {
  name?: string;
  annotations?: string;
  bad?: string;
  total?: string;
  indicator?: string;
  objectives?: string;
  window?: string;
}): string {
  const ratio = `{ ratioMetric: { bad: ${source(options.bad ?? '{ metric: lb.requests, where: { lb.response.class: 5xx } }')}, total: ${source(options.total ?? '{ metric: lb.requests }')} } }`;
  return `apiVersion: openslo/v1
kind: SLO
metadata: { name: ${options.name ?? 'a'}, annotations: ${options.annotations ?? '{}'} }
spec:
  service: s
  indicator: { spec: ${options.indicator ?? ratio} }
  timeWindow: [{ duration: ${options.window ?? '30d'}, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: ${options.objectives ?? '[{ target: 0.999 }]'}
`;
}

/** Good and total of one histogram, as a ratio. */
export const latencyRatio = (threshold: string): string =>
  `{ ratioMetric: { counter: true, good: ${source(`{ metric: http.server.request.duration, threshold: ${threshold} }`)}, total: ${source('{ metric: http.server.request.duration }')} } }`;

export const latencyThreshold = `{ thresholdMetric: ${source('{ metric: http.server.request.duration }')} }`;
