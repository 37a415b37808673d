import pino, { type Logger } from 'pino';
import { formatInstant } from '../base/instant.ts';
import { epochMs } from '../base/units.ts';

/** Where lines of the log go; standard error is one. */
export interface LogOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Never written, at any depth that our objects have: tokens, signature keys and what a request carries of them. */
const SECRET_FIELDS = ['secret', 'password', 'token', 'authorization', 'cookie'];
const SECRET_PATHS = [
  ...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`, `*.*.*.${field}`]),
  'tokens[*].value',
  '*.tokens[*].value',
];

/**
 * The log of the service: JSON lines for machines, short lines on a terminal. It goes to standard error, so that
 * standard output stays for results. `level` is one of trace, debug, info, warn, error, fatal, silent.
 */
export function createLogger({ level, output }: { level: string; output?: LogOutput }): Logger {
  const target = output ?? process.stderr;
  const options = { level, base: null, redact: { paths: SECRET_PATHS, censor: '[redacted]' } };
  if (target.isTTY === true) {
    return pino(options, { write: (line: string) => target.write(humanLine(line)) });
  }
  const label = (name: string): object => ({ level: name });
  const machine = { ...options, formatters: { level: label }, timestamp: () => `,"time":"${isoNow()}"` };
  return pino(machine, { write: (line: string) => target.write(line) });
}

const isoNow = (): string => formatInstant(epochMs(Date.now()));

/** `12:34:56.789 INFO  message key=value`, then the stack of an error on lines of its own. */
function humanLine(line: string): string {
  const { level, time, msg = '', err, ...rest } = JSON.parse(line) as HumanFields;
  const name = (pino.levels.labels[level] ?? String(level)).toUpperCase().padEnd(5);
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const stack = err === undefined ? '' : `${err.stack ?? err.message ?? ''}\n`;
  return `${formatInstant(epochMs(time)).slice(11, 23)} ${name} ${msg}${fields.join('')}\n${stack}`;
}

interface HumanFields {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly err?: { readonly stack?: string; readonly message?: string };
  readonly [field: string]: unknown;
}
