import { type TSchema, Type } from 'typebox';

/**
 * The pieces of which the schemas of the HTTP API are made. A schema is plain JSON Schema: the same object validates
 * requests, serialises answers and appears in /api/openapi.json.
 */

/** A schema under its name in the document; routes refer to it by `ref`. */
export type NamedSchema = TSchema & { readonly $id: string };

export const named = (id: string, schema: object): NamedSchema =>
  Type.Unsafe({ ...schema, title: id, $id: id }) as TSchema as NamedSchema;

/**
 * The schema of a view. `properties` must name every field of `View` and no other, or it does not compile: the
 * serialiser writes only what a schema names, so a forgotten field would vanish from the wire.
 */
export function viewSchema<View>(
  id: string,
  description: string,
  properties: Readonly<Record<keyof View & string, TSchema>>,
): NamedSchema {
  return named(id, Type.Object({ ...properties }, { description, additionalProperties: false }));
}

/** A reference to a named schema, typed as what it describes. */
export const ref = <T>(schema: NamedSchema) => Type.Unsafe<T>({ $ref: `${schema.$id}#` });

/** The same, or null. */
export const refOrNull = (schema: NamedSchema, description: string): TSchema =>
  Type.Unsafe({ anyOf: [{ $ref: `${schema.$id}#` }, { type: 'null' }], description });

/** JSON Schema's `type` accepts a list; one test instead of an `anyOf` that the serialiser would have to try. */
const orNull = (type: string, options: object): TSchema => Type.Unsafe({ ...options, type: [type, 'null'] });

export const text = (description: string): TSchema => Type.String({ description });
export const textOrNull = (description: string): TSchema => orNull('string', { description });
export const numberOf = (description: string): TSchema => Type.Number({ description });
export const numberOrNull = (description: string): TSchema => orNull('number', { description });
export const wholeOf = (description: string): TSchema => Type.Integer({ description });
export const wholeOrNull = (description: string): TSchema => orNull('integer', { description });
export const flag = (description: string): TSchema => Type.Boolean({ description });
export const instant = (description: string): TSchema => Type.String({ format: 'date-time', description });
export const instantOrNull = (description: string): TSchema => orNull('string', { format: 'date-time', description });
export const listOf = (items: TSchema, description: string): TSchema => Type.Array(items, { description });
export const texts = (description: string): TSchema => listOf(Type.String(), description);

export const oneOf = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });

export const oneOfOrNull = (values: readonly string[], description: string): TSchema =>
  Type.Unsafe({ type: ['string', 'null'], enum: [...values, null], description });

/** A label set. Any name is allowed, `__proto__` included. */
export const labelSet = (description: string): TSchema =>
  Type.Unsafe({ type: 'object', additionalProperties: { type: 'string' }, description });

/** Numbers by name, null where there is none. */
export const numbersByName = (description: string): TSchema =>
  Type.Unsafe({ type: 'object', additionalProperties: { type: ['number', 'null'] }, description });

/** A page of a list of `items`. */
export const pageSchema = (id: string, items: TSchema): NamedSchema =>
  named(
    id,
    Type.Object(
      { items: Type.Array(items), next: textOrNull('Pass as cursor for the next page; null on the last.') },
      { description: 'One page of a list.', additionalProperties: false },
    ),
  );

export const SEVERITIES = ['page', 'ticket'] as const;
