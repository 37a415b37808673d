import type { Alert } from '../model/alert.ts';
import type { Labels } from '../model/labels.ts';
import { type Matcher, matchesAll } from '../model/matcher.ts';

/** While an alert that matches `source` fires, nobody is told of those that match `target` and agree with it in `equal`. */
export interface InhibitRule {
  readonly source: readonly Matcher[];
  readonly target: readonly Matcher[];
  /** Labels or parts of the place; one that both lack is equal. Empty = anywhere. */
  readonly equal: readonly string[];
}

interface Source {
  readonly alert: Alert;
  readonly isTargetToo: boolean;
}

/** The alerts that inhibit a target: of each rule one, if it can be one of `known`, else the first that fired. */
export type Inhibitor = (target: Alert, known: ReadonlySet<string>) => readonly Alert[];

const byStart = ({ alert: a }: Source, { alert: b }: Source): number => a.since - b.since || (a.key < b.key ? -1 : 1);

/**
 * Who inhibits whom among the alerts that fire. Every source counts for as long as it fires, inhibited itself or not.
 * No alert inhibits itself, and two that match both sides of a rule do not inhibit each other: nobody would be told of
 * either.
 */
export function createInhibitor(
  rules: readonly InhibitRule[],
  firing: Iterable<Alert>,
  labelsOf: (alert: Alert) => Labels,
): Inhibitor {
  const alerts = rules.length === 0 ? [] : [...firing];
  const indexed = rules.map((rule) => ({ rule, sources: sourcesOf(rule, alerts, labelsOf) }));
  return (target, known) => {
    const found: Alert[] = [];
    for (const { rule, sources } of indexed) {
      const labels = labelsOf(target);
      if (!matchesAll(rule.target, labels)) continue;
      const isSourceToo = matchesAll(rule.source, labels);
      const fitting = (sources.get(equalKey(rule, labels)) ?? []).filter(
        ({ alert, isTargetToo }) => alert.key !== target.key && !(isSourceToo && isTargetToo),
      );
      const chosen = fitting.find(({ alert }) => known.has(alert.key)) ?? fitting[0];
      if (chosen !== undefined && !found.includes(chosen.alert)) found.push(chosen.alert);
    }
    return found;
  };
}

function sourcesOf(
  rule: InhibitRule,
  alerts: readonly Alert[],
  labelsOf: (alert: Alert) => Labels,
): ReadonlyMap<string, readonly Source[]> {
  const sources = new Map<string, Source[]>();
  for (const alert of alerts) {
    const labels = labelsOf(alert);
    if (!matchesAll(rule.source, labels)) continue;
    const source = { alert, isTargetToo: matchesAll(rule.target, labels) };
    const key = equalKey(rule, labels);
    const known = sources.get(key);
    if (known === undefined) sources.set(key, [source]);
    else known.push(source);
  }
  for (const list of sources.values()) list.sort(byStart);
  return sources;
}

const equalKey = ({ equal }: InhibitRule, labels: Labels): string =>
  JSON.stringify(equal.map((name) => labels.get(name) ?? ''));
