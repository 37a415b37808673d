import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsOf } from '../model/labels.ts';
import type { Slo, SloWindow } from '../slo/slo.ts';
import { generationOf } from './digest.ts';
import { objectiveIndicator } from './objective-indicator.ts';
import type { PolicyBook } from './policies.ts';
import type { Report } from './report.ts';
import { type BudgetingMethod, resolveBudgeting, resolveMethod } from './resolve-budgeting.ts';
import type { FindZone } from './resolve-calendar.ts';
import { type CountedObjective, isComposite, resolveComposite } from './resolve-composite.ts';
import { resolveIndicator } from './resolve-indicator.ts';
import { resolveObjective } from './resolve-objective.ts';
import { resolvePolicy } from './resolve-policy.ts';
import { isAttributeName, misspeltAttribute } from './resolve-where.ts';
import { resolveWindow } from './resolve-window.ts';
import { booleanOf, child, entries, items, keyPosition, type Position, type SourceNode, textOf } from './source.ts';
import { chooseFrom } from './suggest.ts';
import { checkRunbook, type ResolvedSlo } from './validate.ts';

/** What an SLO file may refer to. */
export interface SloContext {
  readonly runbooks: ReadonlySet<string>;
  readonly policies: PolicyBook;
  /** Time zones by their IANA names; null for no zone. */
  readonly zoneRules: FindZone;
}

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const ANNOTATION = {
  groupBy: 'slowburn/group-by',
  policy: 'slowburn/policy',
  rollup: 'slowburn/rollup',
  runbook: 'slowburn/runbook',
} as const;
const ANNOTATIONS: readonly string[] = Object.values(ANNOTATION);
const DEFAULT_POLICY = 'countdown';

/**
 * The SLOs of one document of kind SLO: one per objective, or one for all of a composite. The document has passed its
 * schema. Every error is reported; an objective with an error is left out.
 */
export function resolveSlo(root: SourceNode, context: SloContext, report: Report): readonly ResolvedSlo[] {
  const metadata = child(root, 'metadata') ?? root;
  const spec = child(root, 'spec') ?? root;
  const name = resolveName(metadata, report);
  const labels = resolveTexts(child(metadata, 'labels'), 'label', report);
  const annotations = resolveAnnotations(child(metadata, 'annotations'), report);
  const settings = resolveSettings(metadata, context, report);
  reportUnused(spec, report);
  const window = resolveWindow(spec, context.zoneRules, report);
  const method = resolveMethod(spec, report);
  const objectives = items(child(spec, 'objectives'));
  checkObjectiveNames(objectives, report);
  const counts =
    method === undefined
      ? []
      : isComposite(objectives)
        ? resolveComposite(spec, objectives, method, window, report)
        : resolvePlain(spec, objectives, method, window, report);

  const found: ResolvedSlo[] = [];
  for (const { node, indicator, objective, budgeting } of counts) {
    if (window === undefined) continue;
    const wish = { name: settings.policy, at: settings.policyAt, window, objective, budgeting, node };
    const policy = resolvePolicy(wish, context.policies, report);
    if (policy === undefined || name === undefined) continue;
    const isOneOfSeveral = indicator.kind !== 'composite' && objectives.length > 1;
    const part = isOneOfSeveral ? textOf(child(node, 'displayName')) : undefined;
    const displayName = textOf(child(metadata, 'displayName')) ?? name;
    const slo: Slo = {
      id: part === undefined ? name : `${name}:${part}`,
      name,
      service: textOf(child(spec, 'service')) ?? '',
      displayName: part === undefined ? displayName : `${displayName}: ${part}`,
      objective,
      window,
      budgeting,
      indicator,
      labels,
      annotations,
      groupBy: settings.groupBy,
      rollup: settings.rollup,
      policy,
      runbook: settings.runbook,
      generation: generationOf({ indicator, windowMs: window.length, budgeting, ...settings }),
      source: { file: report.file, line: root.at.line },
    };
    found.push({ slo, at: child(metadata, 'name')?.at ?? root.at });
  }
  return found;
}

/** One thing to count, with an SLO for each objective that is asked of it. */
function resolvePlain(
  spec: SourceNode,
  objectives: readonly SourceNode[],
  method: BudgetingMethod,
  window: SloWindow | undefined,
  report: Report,
): readonly CountedObjective[] {
  const plan = resolveIndicator(spec, report);
  return objectives.flatMap((node) => {
    const objective = resolveObjective(node, report);
    const indicator = plan === undefined ? undefined : objectiveIndicator(plan, node, report);
    const budgeting = resolveBudgeting(method, node, window, report);
    if (child(node, 'compositeWeight') !== undefined) {
      report.error(keyPosition(node, 'compositeWeight'), {
        code: 'CONFIG_COMPOSITE_WEIGHT',
        message: 'compositeWeight belongs to a composite SLO, whose objectives have indicators of their own',
        fix: 'remove it, or move the indicator into the objectives',
      });
      return [];
    }
    if (objective === undefined || indicator === undefined || budgeting === undefined) return [];
    return [{ node, indicator, objective, budgeting }];
  });
}

function resolveName(metadata: SourceNode, report: Report): string | undefined {
  const node = child(metadata, 'name');
  const name = textOf(node);
  if (node === undefined || name === undefined || NAME.test(name)) return name;
  report.error(node.at, {
    code: 'CONFIG_NAME_INVALID',
    message: `${JSON.stringify(name)} cannot be the name of an SLO`,
    fix: 'use at most 63 lower-case letters, digits and dashes, such as checkout-availability',
  });
  return undefined;
}

function resolveTexts(node: SourceNode | undefined, what: string, report: Report): Labels {
  const pairs: [string, string][] = [];
  for (const [name, { value }] of entries(node)) {
    const text = textOf(value);
    if (text !== undefined) pairs.push([name, text]);
    else
      report.error(value.at, {
        code: 'CONFIG_VALUE_INVALID',
        message: `the ${what} ${name} is not a text`,
        fix: `write one value: ${name}: value`,
      });
  }
  return labelsOf(pairs);
}

function resolveAnnotations(node: SourceNode | undefined, report: Report): Labels {
  for (const [name, { keyAt }] of entries(node)) {
    if (!name.startsWith('slowburn/') || ANNOTATIONS.includes(name)) continue;
    report.error(keyAt, {
      code: 'CONFIG_ANNOTATION_UNKNOWN',
      message: `unknown annotation ${name}`,
      fix: chooseFrom(name, ANNOTATIONS),
    });
  }
  return resolveTexts(node, 'annotation', report);
}

interface Settings {
  readonly groupBy: readonly string[];
  readonly rollup: boolean;
  readonly policy: string;
  readonly policyAt: Position;
  readonly runbook: string;
}

function resolveSettings(metadata: SourceNode, context: SloContext, report: Report): Settings {
  const annotations = child(metadata, 'annotations');
  const at = keyPosition(metadata, 'name');
  const rollupNode = child(annotations, ANNOTATION.rollup);
  const rollup = rollupNode === undefined ? false : booleanOf(rollupNode);
  if (rollup === undefined) {
    report.error(rollupNode?.at ?? at, {
      code: 'CONFIG_VALUE_INVALID',
      message: `${ANNOTATION.rollup} is neither true nor false`,
      fix: 'write "true" or "false"',
    });
  }
  const policy = child(annotations, ANNOTATION.policy);
  const runbookNode = child(annotations, ANNOTATION.runbook);
  const runbook = textOf(runbookNode) ?? ALERT.errorBudgetBurn;
  checkRunbook(runbook, runbookNode?.at ?? at, context.runbooks, report);
  return {
    groupBy: resolveGroupBy(child(annotations, ANNOTATION.groupBy), report),
    rollup: rollup ?? false,
    policy: textOf(policy) ?? DEFAULT_POLICY,
    policyAt: policy?.at ?? at,
    runbook,
  };
}

function resolveGroupBy(node: SourceNode | undefined, report: Report): readonly string[] {
  if (node === undefined) return [];
  const names = (textOf(node) ?? '').split(',').map((name) => name.trim());
  for (const [index, name] of names.entries()) {
    if (!isAttributeName(name) || names.indexOf(name) !== index) {
      const fault = names.indexOf(name) === index ? `cannot hold ${JSON.stringify(name)}` : `names ${name} twice`;
      report.error(node.at, {
        code: 'CONFIG_GROUP_BY_INVALID',
        message: `${ANNOTATION.groupBy} ${fault}`,
        fix: 'list attribute names with commas between them: lb.upstream.cluster,lb.upstream.zone',
      });
      continue;
    }
    const meant = misspeltAttribute(name);
    if (meant === undefined) continue;
    report.warning(node.at, {
      code: 'CONFIG_ATTRIBUTE_UNKNOWN',
      message: `no balancer is known to send ${name}, so that there would be one group`,
      fix: `did you mean ${meant}?`,
    });
  }
  return names;
}

function reportUnused(spec: SourceNode, report: Report): void {
  if (child(spec, 'alertPolicies') === undefined) return;
  report.warning(keyPosition(spec, 'alertPolicies'), {
    code: 'CONFIG_UNUSED',
    message: 'alertPolicies are not used',
    fix: `what pages follows the annotation ${ANNOTATION.policy}`,
  });
}

function checkObjectiveNames(objectives: readonly SourceNode[], report: Report): void {
  if (objectives.length < 2) return;
  const seen = new Set<string>();
  for (const node of objectives) {
    const name = textOf(child(node, 'displayName'));
    if (name === undefined || seen.has(name)) {
      report.error(child(node, 'displayName')?.at ?? node.at, {
        code: 'CONFIG_OBJECTIVE_NAME',
        message:
          name === undefined ? 'one of several objectives has no displayName' : `two objectives are called ${name}`,
        fix: 'give every objective its own displayName: it becomes part of the id',
      });
    }
    if (name !== undefined) seen.add(name);
  }
}
