import { decimalDenominator, parseDecimal } from '../base/decimal.ts';
import { formatDuration } from '../base/duration.ts';
import { MINUTE, type Ms, ms, SECOND } from '../base/units.ts';
import type { Budgeting, Objective, SloWindow } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { resolveDuration } from './resolve-window.ts';
import { child, keyPosition, type SourceNode, textOf } from './source.ts';

const METHODS = ['Occurrences', 'Timeslices', 'RatioTimeslices'] as const;
export type BudgetingMethod = (typeof METHODS)[number];

const STEP = 10 * SECOND;

/** `spec.budgetingMethod`, Occurrences where none is written; undefined when it is none of the three (reported). */
export function resolveMethod(spec: SourceNode, report: Report): BudgetingMethod | undefined {
  const node = child(spec, 'budgetingMethod');
  if (node === undefined) return 'Occurrences';
  const text = textOf(node);
  const found = METHODS.find((method) => method === text);
  if (found !== undefined) return found;
  report.error(node.at, {
    code: 'CONFIG_VALUE_INVALID',
    message: `unknown budgetingMethod ${text ?? 'without a value'}`,
    fix: `write budgetingMethod: ${METHODS.join(', or ')}`,
  });
  return undefined;
}

/** How an objective's budget counts; undefined when its slices have an error (reported). */
export function resolveBudgeting(
  method: BudgetingMethod,
  objective: SourceNode,
  window: SloWindow | undefined,
  report: Report,
): Budgeting | undefined {
  const isStray = (key: string, needs: string): boolean => {
    if (child(objective, key) === undefined) return false;
    report.error(keyPosition(objective, key), {
      code: 'CONFIG_SLICE_MISPLACED',
      message: `${key} belongs to budgetingMethod ${needs}, and this is ${method}`,
      fix: `remove ${key}, or change the budgetingMethod`,
    });
    return true;
  };
  if (method === 'Occurrences') {
    const strays = [isStray('timeSliceTarget', 'Timeslices'), isStray('timeSliceWindow', 'Timeslices')];
    return strays.includes(true) ? undefined : { kind: 'occurrences' };
  }
  const width = resolveWidth(method, objective, window, report);
  if (method === 'RatioTimeslices') {
    const stray = isStray('timeSliceTarget', 'Timeslices');
    return width === undefined || stray ? undefined : { kind: 'ratio_timeslices', width };
  }
  const target = resolveSliceTarget(objective, report);
  return width === undefined || target === undefined ? undefined : { kind: 'timeslices', width, target };
}

function resolveWidth(
  method: BudgetingMethod,
  objective: SourceNode,
  window: SloWindow | undefined,
  report: Report,
): Ms | undefined {
  const node = child(objective, 'timeSliceWindow');
  if (node === undefined) {
    report.error(objective.at, {
      code: 'CONFIG_SLICE_MISSING',
      message: `budgetingMethod ${method} needs timeSliceWindow in its objective`,
      fix: 'add timeSliceWindow: 1m',
    });
    return undefined;
  }
  // A plain number is minutes, as OpenSLO has it.
  const text = textOf(node) ?? '';
  const width = /^\d+$/.test(text) ? ms(Number(text) * MINUTE) : resolveDuration(node, 'timeSliceWindow', report);
  if (width === undefined) return undefined;
  const fault = (message: string, fix: string): undefined => {
    report.error(node.at, { code: 'CONFIG_SLICE_WINDOW', message, fix });
    return undefined;
  };
  if (width === 0 || width % STEP !== 0) {
    return fault(`slices of ${text} do not hold whole steps of 10 seconds`, 'use a multiple of 10s, such as 1m');
  }
  if (window !== undefined && window.length % width !== 0) {
    return fault(
      `a window of ${window.text} does not hold whole slices of ${formatDuration(width)}`,
      'use a width that divides it, such as 1m',
    );
  }
  return width;
}

function resolveSliceTarget(objective: SourceNode, report: Report): Objective | undefined {
  const node = child(objective, 'timeSliceTarget');
  if (node === undefined) {
    report.error(objective.at, {
      code: 'CONFIG_SLICE_MISSING',
      message: 'budgetingMethod Timeslices needs timeSliceTarget in its objective',
      fix: 'add the share of events that makes a slice good, such as timeSliceTarget: 0.95',
    });
    return undefined;
  }
  const text = textOf(node) ?? '';
  const target = parseDecimal(text);
  if (target !== undefined && target.units > 0n && target.units <= decimalDenominator(target)) return { text, target };
  report.error(node.at, {
    code: 'CONFIG_SLICE_TARGET',
    message: `timeSliceTarget ${text === '' ? 'has no value' : `${text} is no ratio above 0 and at most 1`}`,
    fix: 'write the share of events that makes a slice good, such as 0.95',
  });
  return undefined;
}
