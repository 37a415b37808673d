import { DAY, type EpochMs, epochMs, type Ms } from './units.ts';

/** What pure code knows of a time zone. Made from the zone database at the edge. */
export interface ZoneRules {
  /** IANA name: `Europe/Berlin`. */
  readonly name: string;
  /** Local time minus UTC at an instant. */
  offsetAt(at: EpochMs): Ms;
}

/**
 * The instant at which clocks of the zone show a local time, given in milliseconds as if it were UTC. A time that the
 * clocks show twice is the first of both; one that they leave out is as far behind the gap's start as it was meant to be
 * (02:30 is 03:30 where 02:00 becomes 03:00). Offsets must not change twice within two days.
 */
export function instantOfLocal(zone: ZoneRules, local: number): EpochMs {
  const before = zone.offsetAt(epochMs(local - DAY));
  const after = zone.offsetAt(epochMs(local + DAY));
  for (const offset of [before, after]) {
    const at = epochMs(local - offset);
    if (zone.offsetAt(at) === offset) return at;
  }
  return epochMs(local - before);
}

/** What clocks of the zone show, in milliseconds as if it were UTC. */
export const localOf = (zone: ZoneRules, at: EpochMs): number => at + zone.offsetAt(at);
