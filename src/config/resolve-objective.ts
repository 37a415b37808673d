import { type Decimal, decimalDenominator, decimalText, parseDecimal } from '../base/decimal.ts';
import type { Objective } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { child, keyPosition, type SourceNode, textOf } from './source.ts';

const percentOf = (decimal: Decimal): Decimal => ({ units: decimal.units, scale: decimal.scale + 2 });

/** `decimal` in whole units compared with 1: negative below, 0 equal, positive above. */
const compareToOne = (decimal: Decimal): number => {
  const one = decimalDenominator(decimal);
  return decimal.units < one ? -1 : decimal.units > one ? 1 : 0;
};

/**
 * Reads `target` (a ratio) or `targetPercent` from its digits, so that 0.999 is exactly 999/1000. Undefined when it
 * is not a ratio strictly between 0 and 1 (reported).
 */
export function resolveObjective(objective: SourceNode, report: Report): Objective | undefined {
  const target = child(objective, 'target');
  const percent = child(objective, 'targetPercent');
  if ((target === undefined) === (percent === undefined)) {
    report.error(target === undefined ? objective.at : keyPosition(objective, 'targetPercent'), {
      code: 'CONFIG_TARGET_INVALID',
      message: target === undefined ? 'the objective has no target' : 'target and targetPercent are both given',
      fix: target === undefined ? 'add target: 0.999' : 'keep one of the two',
    });
    return undefined;
  }
  return target === undefined ? resolvePercent(percent, report) : resolveRatioTarget(target, report);
}

function resolveRatioTarget(node: SourceNode, report: Report): Objective | undefined {
  const text = textOf(node) ?? '';
  const decimal = parseDecimal(text);
  if (decimal !== undefined && decimal.units > 0n && compareToOne(decimal) < 0) return { text, target: decimal };
  report.error(node.at, { code: 'CONFIG_TARGET_INVALID', ...targetFinding(text, decimal) });
  return undefined;
}

function resolvePercent(node: SourceNode | undefined, report: Report): Objective | undefined {
  if (node === undefined) return undefined;
  const text = textOf(node) ?? '';
  const percent = parseDecimal(text);
  const target = percent === undefined ? undefined : percentOf(percent);
  if (target !== undefined && target.units > 0n && compareToOne(target) < 0)
    return { text: decimalText(target), target };
  report.error(node.at, {
    code: 'CONFIG_TARGET_INVALID',
    message: `targetPercent ${text === '' ? 'without a value' : text} is not between 0 and 100`,
    fix: 'write for example targetPercent: 99.9',
  });
  return undefined;
}

function targetFinding(text: string, decimal: Decimal | undefined): { message: string; fix: string } {
  const number = decimal ?? parseDecimal(text.replace(/\s*%$/, ''));
  if (number === undefined) {
    return {
      message: `target ${text === '' ? 'has no value' : `${text} is not a decimal number`}`,
      fix: 'write 0.999',
    };
  }
  if (number.units <= 0n) {
    return {
      message: `target ${text} asks for nothing: every event may fail`,
      fix: 'write a ratio above 0, such as 0.999',
    };
  }
  const ratio = percentOf(number);
  if (compareToOne(number) > 0 || decimal === undefined) {
    if (compareToOne(ratio) < 0) {
      return { message: `target ${text} is a percentage, and targets are ratios`, fix: `write ${decimalText(ratio)}` };
    }
    return { message: `target ${text} leaves no error budget`, fix: 'write a ratio below 1, such as 0.999 for 99.9 %' };
  }
  return {
    message: `target ${text} leaves no error budget: the first bad event would exhaust it`,
    fix: 'write a ratio below 1, such as 0.999',
  };
}
