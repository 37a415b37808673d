import { type Ms, ms } from './units.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Reads a duration such as `30d`, `1h30m`, `90s`, `500ms` (units ms s m h d w, whole numbers, largest unit first).
 * Returns undefined for anything else; `0s` and `0` are zero.
 */
export function parseDuration(text: string): Ms | undefined {
  if (text === '0') return ms(0);
  if (!/^(\d+(ms|[smhdw]))+$/.test(text)) return undefined;
  let total = 0;
  let previousUnitMs = Number.POSITIVE_INFINITY;
  for (const [, digits, unit] of text.matchAll(/(\d+)(ms|[smhdw])/g)) {
    const unitMs = UNIT_MS[unit as string] as number;
    if (unitMs >= previousUnitMs) return undefined;
    previousUnitMs = unitMs;
    total += Number(digits) * unitMs;
  }
  return Number.isSafeInteger(total) ? ms(total) : undefined;
}

/**
 * Names a window the way the design does: the largest unit of d, h, m, s, ms that divides it (`30d`, `6h`, `5m`, `90s`).
 * A day is written `1d`, three days `3d`, 50 hours `50h`.
 */
export function formatDuration(duration: Ms): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const unitMs = UNIT_MS[unit] as number;
    if (duration !== 0 && duration % unitMs === 0) return `${duration / unitMs}${unit}`;
  }
  return duration === 0 ? '0s' : `${duration}ms`;
}
