import type { Labels } from './labels.ts';

export type MatcherOperator = '=' | '!=' | '=~' | '!~';

/** One label matcher, as in Prometheus: patterns are anchored at both ends, a missing label has the value `""`. */
export interface Matcher {
  readonly name: string;
  readonly operator: MatcherOperator;
  readonly value: string;
  readonly pattern: RegExp | null;
}

/** Builds a matcher; returns null when the pattern is not a valid regular expression. */
export function createMatcher(name: string, operator: MatcherOperator, value: string): Matcher | null {
  if (operator === '=' || operator === '!=') return { name, operator, value, pattern: null };
  try {
    return { name, operator, value, pattern: new RegExp(`^(?:${value})$`, 's') };
  } catch {
    return null;
  }
}

/** Reads `team=edge`, `team="edge"`, `zone!~"a|b"`. Returns null when it is not a matcher. */
export function parseMatcher(text: string): Matcher | null {
  const match = /^\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|([^"]*?))\s*$/s.exec(text);
  if (match === null) return null;
  const [, name = '', operator = '=', quoted, bare] = match;
  const value =
    quoted === undefined ? (bare ?? '') : quoted.replace(/\\(.)/gs, (_, c: string) => (c === 'n' ? '\n' : c));
  return createMatcher(name, operator as MatcherOperator, value);
}

export function matches(matcher: Matcher, labels: Labels): boolean {
  const value = labels.get(matcher.name) ?? '';
  const equal = matcher.pattern === null ? value === matcher.value : matcher.pattern.test(value);
  return matcher.operator === '=' || matcher.operator === '=~' ? equal : !equal;
}

export const matchesAll = (matchers: readonly Matcher[], labels: Labels): boolean =>
  matchers.every((matcher) => matches(matcher, labels));
