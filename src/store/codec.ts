import type { ForeignRecord } from '../correlate/foreign/record.ts';
import type { Alert } from '../model/alert.ts';
import type { HookCall } from '../model/hook.ts';
import type { Incident, IncidentChange } from '../model/incident.ts';
import type { HourlyFigures } from '../model/measure.ts';

/**
 * JSON that gives back exactly what went in, for values that hold Maps. A Map becomes `{"$map": [[key, value], ...]}`,
 * so that a label called `__proto__` survives; a number that JSON cannot write becomes `{"$number": "Infinity"}`.
 */
const MAP = '$map';
const NUMBER = '$number';

function replace(_: string, value: unknown): unknown {
  if (value instanceof Map) return { [MAP]: [...value] };
  if (typeof value !== 'number' || (Number.isFinite(value) && !Object.is(value, -0))) return value;
  return { [NUMBER]: Object.is(value, -0) ? '-0' : String(value) };
}

function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(fields[MAP])) return new Map(fields[MAP] as [unknown, unknown][]);
  return typeof fields[NUMBER] === 'string' ? Number(fields[NUMBER]) : value;
}

const encode = (value: unknown): string => JSON.stringify(value, replace);
const decode = (text: string): unknown => JSON.parse(text, revive);

export const encodeAlert = (alert: Alert): string => encode(alert);
export const decodeAlert = (text: string): Alert => decode(text) as Alert;
export const encodeIncident = (incident: Incident): string => encode(incident);
export const decodeIncident = (text: string): Incident => decode(text) as Incident;
export const encodeChange = (change: IncidentChange): string => encode(change);
export const decodeChange = (text: string): IncidentChange => decode(text) as IncidentChange;
export const encodeHookCall = (call: HookCall): string => encode(call);
export const decodeHookCall = (text: string): HookCall => decode(text) as HookCall;
export const encodeHourly = (row: HourlyFigures): string => encode(row);
export const decodeHourly = (text: string): HourlyFigures => decode(text) as HourlyFigures;
export const encodeForeign = (record: ForeignRecord): string => encode(record);
export const decodeForeign = (text: string): ForeignRecord => decode(text) as ForeignRecord;
