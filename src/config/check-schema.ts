import type { TSchema } from 'typebox';
import { Settings } from 'typebox/system';
import Value from 'typebox/value';
import type { Report } from './report.ts';
import { locate, type SourceDocument, type SourceNode, toPlain } from './source.ts';
import { chooseFrom } from './suggest.ts';

type SchemaError = ReturnType<typeof Value.Errors>[number];

/** Findings of one document that are worth reading. */
const MAX_ERRORS = 100;

/**
 * Reports every way in which a document differs from its schema, at the key or value that differs. Returns whether
 * its values have the shape that the schema promises; an unknown key alone does not spoil it.
 */
export function checkSchema(schema: TSchema, document: SourceDocument, report: Report): boolean {
  let sound = true;
  for (const error of errorsOf(schema, toPlain(document.root))) {
    // The tries of a union; the union itself is reported.
    if (error.schemaPath.includes('/anyOf/')) continue;
    const path = pointer(error.instancePath);
    if (error.keyword === 'boolean') reportUnknownKey(schema, document.root, path, error, report);
    else if (error.keyword === 'required') {
      for (const key of requiredProperties(error)) reportMissing(schema, document.root, path, key, error, report);
      sound = false;
    } else if (error.keyword !== 'additionalProperties') {
      reportValue(schema, document.root, path, error, report);
      sound = false;
    }
  }
  return sound;
}

/** TypeBox stops after 8 errors unless told otherwise; the setting is global, so it is put back. */
function errorsOf(schema: TSchema, value: unknown): readonly SchemaError[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: MAX_ERRORS });
  try {
    return [...Value.Errors(schema, value)];
  } finally {
    Settings.Set({ maxErrors });
  }
}

const pointer = (text: string): readonly string[] =>
  text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function requiredProperties(error: SchemaError): readonly string[] {
  const { params } = error;
  return 'requiredProperties' in params ? params.requiredProperties : [];
}

/** `spec.objectives[0].target`. */
const dotted = (path: readonly string[]): string =>
  path.reduce((text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`), '');

interface SchemaPart {
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly expected?: string;
  readonly [key: string]: unknown;
}

/** The part of a schema under a path such as `#/properties/listen`. */
function partOf(schema: TSchema, schemaPath: string): SchemaPart | undefined {
  let part: unknown = schema;
  for (const key of pointer(schemaPath)) {
    if (typeof part !== 'object' || part === null) return undefined;
    part = (part as Readonly<Record<string, unknown>>)[key];
  }
  return typeof part === 'object' && part !== null ? (part as SchemaPart) : undefined;
}

function reportUnknownKey(
  schema: TSchema,
  root: SourceNode,
  path: readonly string[],
  error: SchemaError,
  report: Report,
): void {
  const key = path.at(-1) ?? '';
  const owner = partOf(schema, error.schemaPath.replace(/\/additionalProperties$/, ''));
  const known = Object.keys(owner?.properties ?? {});
  const parent = dotted(path.slice(0, -1));
  report.error((locate(root, path) ?? { keyAt: root.at }).keyAt, {
    code: 'CONFIG_KEY_UNKNOWN',
    message: `unknown key ${JSON.stringify(key)}${parent === '' ? '' : ` in ${parent}`}`,
    fix: chooseFrom(key, known),
  });
}

function reportMissing(
  schema: TSchema,
  root: SourceNode,
  path: readonly string[],
  key: string,
  error: SchemaError,
  report: Report,
): void {
  const expected = partOf(schema, error.schemaPath)?.properties?.[key]?.expected;
  report.error((locate(root, path) ?? { keyAt: root.at }).keyAt, {
    code: 'CONFIG_KEY_MISSING',
    message: `${dotted([...path, key])} is missing`,
    fix: `add ${key}${expected === undefined ? '' : `: ${expected}`}`,
  });
}

function reportValue(
  schema: TSchema,
  root: SourceNode,
  path: readonly string[],
  error: SchemaError,
  report: Report,
): void {
  const expected = partOf(schema, error.schemaPath)?.expected;
  const node = (locate(root, path) ?? { node: root }).node;
  const name = path.length === 0 ? 'the document' : dotted(path);
  const wantsText = error.keyword === 'type' && 'type' in error.params && error.params.type === 'string';
  const quote = wantsText && node.kind === 'scalar' && node.value !== null ? ` in quotes: "${node.text}"` : '';
  report.error(node.at, {
    code: 'CONFIG_VALUE_INVALID',
    message: `${name} ${describe(node)}`,
    fix: `write ${expected ?? (path.length === 0 ? 'keys and values' : 'what this key takes')}${quote}`,
  });
}

function describe(node: SourceNode): string {
  if (node.kind === 'list') return node.items.length === 0 ? 'is an empty list' : 'cannot be a list';
  if (node.kind === 'map') return 'cannot be a map';
  if (node.value === null) return 'has no value';
  return `cannot be ${JSON.stringify(node.value)}`;
}
