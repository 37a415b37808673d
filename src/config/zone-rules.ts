import { IANAZone } from 'luxon';
import { type EpochMs, MINUTE, ms } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';

/** The rules of an IANA zone, from the zone database that Node carries; null when there is no such zone. */
export function zoneRulesOf(name: string): ZoneRules | null {
  if (!IANAZone.isValidZone(name)) return null;
  const zone = IANAZone.create(name);
  return { name, offsetAt: (at: EpochMs) => ms(zone.offset(at) * MINUTE) };
}
