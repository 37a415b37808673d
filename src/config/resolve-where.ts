import { ATTRIBUTE } from '../model/conventions.ts';
import type { Condition } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { entries, type MapEntry, type SourceNode, textOf } from './source.ts';
import { nearest } from './suggest.ts';

const KNOWN_ATTRIBUTES: readonly string[] = Object.values(ATTRIBUTE);

/** Attributes whose every value is known: another value can never match. */
const KNOWN_VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  [ATTRIBUTE.side, ['downstream', 'upstream']],
  [ATTRIBUTE.responseClass, ['1xx', '2xx', '3xx', '4xx', '5xx', 'none']],
]);

const ATTRIBUTE_NAME = /^[A-Za-z_][A-Za-z0-9_.\-/]*$/;

export const isAttributeName = (name: string): boolean => ATTRIBUTE_NAME.test(name);

/** A name that looks like a known one misspelt; undefined when it is known or like nothing. */
export const misspeltAttribute = (name: string): string | undefined =>
  KNOWN_ATTRIBUTES.includes(name) ? undefined : nearest(name, KNOWN_ATTRIBUTES);

/**
 * The conditions of `where`: `value`, `[values]`, `"!value"` (any other value, also a missing attribute), `"~regex"`
 * (anchored at both ends). Numbers and booleans count as the text that stands in the file. Undefined when one has an
 * error (reported).
 */
export function resolveWhere(where: SourceNode | undefined, report: Report): readonly Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const [attribute, entry] of entries(where)) {
    const condition = resolveCondition(attribute, entry.value, report);
    if (checkAttribute(attribute, entry, report) && condition !== undefined) conditions.push(condition);
  }
  return conditions.length === entries(where).length ? conditions : undefined;
}

function checkAttribute(attribute: string, entry: MapEntry, report: Report): boolean {
  if (!isAttributeName(attribute)) {
    report.error(entry.keyAt, {
      code: 'CONFIG_ATTRIBUTE_INVALID',
      message: `${JSON.stringify(attribute)} is not the name of an attribute`,
      fix: 'use letters, digits, dots, dashes and underscores, as in lb.upstream.cluster',
    });
    return false;
  }
  const meant = misspeltAttribute(attribute);
  if (meant === undefined) return true;
  report.warning(entry.keyAt, {
    code: 'CONFIG_ATTRIBUTE_UNKNOWN',
    message: `no balancer is known to send ${attribute}`,
    fix: `did you mean ${meant}?`,
  });
  return true;
}

function resolveCondition(attribute: string, node: SourceNode, report: Report): Condition | undefined {
  if (node.kind === 'list') return resolveValues(attribute, node, report);
  const text = textOf(node);
  if (text === undefined) {
    report.error(node.at, {
      code: 'CONFIG_CONDITION_INVALID',
      message: `the condition on ${attribute} has no value`,
      fix: 'write a value, a list of values, "!value" or "~regex"; "" means that the attribute is missing',
    });
    return undefined;
  }
  if (text.startsWith('~')) return resolvePattern(attribute, text.slice(1), node, report);
  if (text.startsWith('!~')) {
    report.error(node.at, {
      code: 'CONFIG_CONDITION_INVALID',
      message: `${JSON.stringify(text)} negates a pattern, which is not supported`,
      fix: 'write "!value" for one value, or a pattern that matches what should count: "~..."',
    });
    return undefined;
  }
  const negated = text.startsWith('!');
  const value = negated ? text.slice(1) : text;
  checkValue(attribute, value, node, report);
  return negated ? { kind: 'not', attribute, value } : { kind: 'equals', attribute, value };
}

function resolveValues(
  attribute: string,
  node: Extract<SourceNode, { kind: 'list' }>,
  report: Report,
): Condition | undefined {
  const values: string[] = [];
  for (const item of node.items) {
    const text = textOf(item);
    if (text === undefined || text.startsWith('!') || text.startsWith('~')) {
      report.error(item.at, {
        code: 'CONFIG_CONDITION_INVALID',
        message: `a list of values for ${attribute} holds plain values only`,
        fix: 'list plain values, or write one "!value" or one "~a|b" instead of the list',
      });
      return undefined;
    }
    checkValue(attribute, text, item, report);
    values.push(text);
  }
  const [first, ...others] = values;
  if (first === undefined) {
    report.error(node.at, {
      code: 'CONFIG_CONDITION_INVALID',
      message: `an empty list for ${attribute} can never match`,
      fix: 'list at least one value, or leave the attribute out',
    });
    return undefined;
  }
  return others.length === 0 ? { kind: 'equals', attribute, value: first } : { kind: 'in', attribute, values };
}

function resolvePattern(attribute: string, pattern: string, node: SourceNode, report: Report): Condition | undefined {
  try {
    new RegExp(`^(?:${pattern})$`, 's');
    return { kind: 'matches', attribute, pattern };
  } catch (error) {
    report.error(node.at, {
      code: 'CONFIG_REGEX_INVALID',
      message: `the pattern for ${attribute} is not a regular expression (${reasonOf(error)})`,
      fix: 'close every bracket and escape literal ( [ { * + ? with a backslash',
    });
    return undefined;
  }
}

/** V8 says `Invalid regular expression: /…/s: Unterminated group`; the last part is the reason. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.message.split(': ').at(-1) ?? error.message).toLowerCase() : String(error);

function checkValue(attribute: string, value: string, node: SourceNode, report: Report): void {
  const known = KNOWN_VALUES.get(attribute);
  if (known === undefined || value === '' || known.includes(value)) return;
  report.warning(node.at, {
    code: 'CONFIG_VALUE_UNKNOWN',
    message: `${attribute} is never ${JSON.stringify(value)}`,
    fix: `use one of ${known.join(', ')}`,
  });
}
