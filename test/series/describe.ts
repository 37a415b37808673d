import type { Attributes, PointKind, SeriesDescription } from '../../src/series/binding.ts';

type Value = string | number | boolean;

/** Attributes as a decoder gives them. */
export function attributesOf(values: Readonly<Record<string, Value>>): Attributes {
  return new Map(
    Object.entries(values).map(([name, value]) => {
      const type = typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'int';
      return [name, { type, text: String(value) }];
    }),
  );
}

export interface Shape {
  readonly resource?: Readonly<Record<string, Value>>;
  readonly scope?: string;
  readonly unit?: string;
  readonly kind?: PointKind;
  readonly monotonic?: boolean;
  readonly balancer?: string;
}

/** A series: a growing cumulative sum unless said otherwise. */
export function seriesOf(
  name: string,
  attributes: Readonly<Record<string, Value>> = {},
  shape: Shape = {},
): SeriesDescription {
  const kind = shape.kind ?? 'sum';
  return {
    resource: attributesOf(shape.resource ?? {}),
    scope: { name: shape.scope ?? '', version: '', attributes: new Map() },
    name,
    unit: shape.unit ?? '',
    kind,
    temporality: kind === 'gauge' ? 'unspecified' : 'cumulative',
    monotonic: shape.monotonic ?? kind === 'sum',
    attributes: attributesOf(attributes),
    balancer: shape.balancer ?? 'lb-1',
  };
}

export const histogramOf = (name: string, attributes: Readonly<Record<string, Value>> = {}, shape: Shape = {}) =>
  seriesOf(name, attributes, { ...shape, kind: shape.kind ?? 'histogram' });

export const gaugeOf = (name: string, attributes: Readonly<Record<string, Value>> = {}, shape: Shape = {}) =>
  seriesOf(name, attributes, { ...shape, kind: 'gauge' });
