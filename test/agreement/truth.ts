import { MINUTES } from './history.ts';

/** The workbook's tiers at 99.9 % over 30 d: windows in minutes, error ratio in ten-thousandths. */
export const TIERS = [
  { name: '50h', long: 60, short: 5, perTenThousand: 144n },
  { name: '5d', long: 360, short: 30, perTenThousand: 60n },
  { name: '10d', long: 1440, short: 120, perTenThousand: 30n },
  { name: '30d', long: 4320, short: 360, perTenThousand: 10n },
] as const;

/** For one group: whether each tier holds at the end of each minute; 1 = it does. */
export type Truth = readonly Uint8Array[];

export const emptyTruth = (): Truth => TIERS.map(() => new Uint8Array(MINUTES + 1));
