/** What a runbook leaves blank, and what to put there where nobody fills it in. */
export const BLANKS = {
  slowburn: 'address of slowburn, such as http://127.0.0.1:8080',
  incident: 'number of the incident',
  slo: 'id of the SLO, label slo of its alert',
  service: 'service of the SLO',
  cluster: 'cluster that the alert names',
  zone: 'zone that the alert names',
  region: 'region that the alert names',
  host: 'host behind the balancers, as they name it',
  balancer: 'balancer, by its service.instance.id',
  listener: 'listener that the alert names',
  config_version: 'config version that the alert names',
  config_kind: 'kind of the configuration, label configKind',
  certificate: 'name of the certificate, label certificate',
  receiver: 'name of the receiver, label receiver',
} as const satisfies Readonly<Record<string, string>>;

export type BlankName = keyof typeof BLANKS;
export type BlankValues = Readonly<Partial<Record<BlankName, string>>>;

/** Labels of alerts that are written otherwise there. */
const BY_LABEL: Readonly<Record<string, BlankName>> = { configVersion: 'config_version', configKind: 'config_kind' };

const isBlankName = (name: string): name is BlankName => Object.hasOwn(BLANKS, name);

/** What an alert's labels and place say of the blanks; empty values say nothing. */
export function blankValuesOf(labels: Readonly<Record<string, string>>): BlankValues {
  const values: Partial<Record<BlankName, string>> = {};
  for (const [label, value] of Object.entries(labels)) {
    const name = BY_LABEL[label] ?? label;
    if (value !== '' && isBlankName(name)) values[name] = value;
  }
  return values;
}

/** What kind of text blanks stand in; it decides how a value must be written to stay a value. */
export type BlankContext = 'prose' | 'shell' | 'promql' | 'code';

/** Text as it is, or a blank: `value` is ready for its context, null where it stays blank. */
export type BlankPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'blank'; readonly name: BlankName; readonly value: string | null };

const BLANK = new RegExp(`\\{(${Object.keys(BLANKS).join('|')})\\}`, 'g');
const LENGTH_MAX = 500;
/** Controls, what is not seen or turns the direction of writing, other line ends, halves of characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Means the same to every shell and tool, quoted or not. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9._:/@+-]*$/;
/** What reads its input as commands once more: there a quoted value would be one. */
const READ_AGAIN = /\b(?:socat|ssh|eval|xargs|awk|sed|nc)\b|\bsh\s+-c\b/;

/** Splits a text at its blanks and writes each value so that its context takes it for that value and nothing else. */
export function fillBlanks(text: string, context: BlankContext, values: BlankValues): readonly BlankPart[] {
  const parts: BlankPart[] = [];
  let end = 0;
  for (const { 0: whole, 1: name = '', index } of text.matchAll(BLANK)) {
    if (!isBlankName(name)) continue;
    if (index > end) parts.push({ kind: 'text', text: text.slice(end, index) });
    end = index + whole.length;
    const value = values[name];
    const written = value === undefined ? null : WRITE[context](value, text.slice(0, index), text.slice(end));
    parts.push({ kind: 'blank', name, value: written });
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}

/** How a value is written between what stands before and after it; null where no way is safe. */
type Writer = (value: string, before: string, after: string) => string | null;

const WRITE: Readonly<Record<BlankContext, Writer>> = {
  prose: (value) => value.slice(0, LENGTH_MAX),
  code: (value) => (PLAIN.test(value) ? value : null),
  promql: writePromql,
  shell: writeShell,
};

const isWritable = (value: string): boolean => value.length <= LENGTH_MAX && !UNPRINTABLE.test(value);

/** Only as the whole of a double-quoted string that is compared for equality: a regular expression would obey it. */
function writePromql(value: string, before: string, after: string): string | null {
  if (!isWritable(value) || !/(?:^|[^~])"$/.test(before) || !after.startsWith('"')) return null;
  return value.replace(/[\\"]/g, '\\$&');
}

function writeShell(value: string, before: string, after: string): string | null {
  if (!isWritable(value)) return null;
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (PLAIN.test(value)) return value;
  if (isQuoted(before) || READ_AGAIN.test(line) || READ_AGAIN.test(after.split('\n', 1)[0] ?? '')) return null;
  const word = /\S*$/.exec(line)?.[0] ?? '';
  if (/:\/\/|^\{slowburn\}/.test(word)) return encodeUrlPart(value);
  // A word that begins with a dash is an option, however it is quoted.
  if (word === '' && value.startsWith('-')) return null;
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** Whether a shell would be inside a quoted string, or after a backslash, at the end of this. */
function isQuoted(before: string): boolean {
  let quote = '';
  for (let index = 0; index < before.length; index += 1) {
    const character = before[index] as string;
    if (character === '\\' && quote !== "'") index += 1;
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = '';
    if (index >= before.length) return true;
  }
  return quote !== '';
}

const encodeUrlPart = (value: string): string =>
  encodeURIComponent(value)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%3A', ':');
