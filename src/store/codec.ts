import type { Alert } from '../model/alert.ts';
import type { Incident, IncidentChange } from '../model/incident.ts';

/** JSON for values that hold Maps. A Map becomes `{"$map": [[key, value], ...]}`, so that a label called `__proto__` survives. */
const MAP = '$map';

const replaceMaps = (_: string, value: unknown): unknown => (value instanceof Map ? { [MAP]: [...value] } : value);

function reviveMaps(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = (value as Readonly<Record<string, unknown>>)[MAP];
  return Array.isArray(entries) ? new Map(entries as [unknown, unknown][]) : value;
}

const encode = (value: unknown): string => JSON.stringify(value, replaceMaps);
const decode = (text: string): unknown => JSON.parse(text, reviveMaps);

export const encodeAlert = (alert: Alert): string => encode(alert);
export const decodeAlert = (text: string): Alert => decode(text) as Alert;
export const encodeIncident = (incident: Incident): string => encode(incident);
export const decodeIncident = (text: string): Incident => decode(text) as Incident;
export const encodeChange = (change: IncidentChange): string => encode(change);
export const decodeChange = (text: string): IncidentChange => decode(text) as IncidentChange;
