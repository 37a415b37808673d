/**
 * An exact decimal: value = units / 10^scale. Objectives and thresholds are read from their digits, never through a
 * float
 * (`1 - 0.999` is 0.0010000000000000009 in binary).
 */
export interface Decimal {
  readonly units: bigint;
  /** Digits after the point, 0 or more. */
  readonly scale: number;
}

/** Reads `12`, `0.999`, `-1.5`. Returns undefined for anything else, exponents and blanks included. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole, fraction = ''] = match;
  const units = BigInt(`${whole}${fraction}`);
  return { units: sign === '-' ? -units : units, scale: fraction.length };
}

/** 10^scale. */
export const decimalDenominator = (decimal: Decimal): bigint => 10n ** BigInt(decimal.scale);

/** The nearest double. For display and for arithmetic that decides nothing. */
export const decimalToNumber = (decimal: Decimal): number => Number(decimal.units) / 10 ** decimal.scale;

/** Writes units / 10^scale without needless zeros: 999 / 10^3 = `0.999`. */
export function decimalText({ units, scale }: Decimal): string {
  const digits = units.toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = scale === 0 ? '' : digits.slice(digits.length - scale).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
