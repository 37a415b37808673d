import fc from 'fast-check';
import { parseInstant } from '../../src/base/instant.ts';
import { epochMs, HOUR } from '../../src/base/units.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { HourlyFigures } from '../../src/model/measure.ts';

/** Monday of 2026-W48. */
export const MONDAY = epochMs(parseInstant('2026-11-23T00:00:00Z') ?? 0);

/** The hour of that week that ends so many hours after its start. */
export const hourRow = (
  hour: number,
  subject: Readonly<Record<string, string>>,
  told: Partial<Pick<HourlyFigures, 'tallies' | 'added' | 'budget' | 'figures' | 'notes'>>,
): HourlyFigures => ({
  hour: epochMs(MONDAY + hour * HOUR),
  subject: labelsOf(Object.entries(subject)),
  figures: {},
  notes: {},
  ...told,
});

const count = fc.integer({ min: 0, max: 1e9 });
const name = fc.constantFrom('shop', 'search', 'media', '');
const tallied = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((one) => [one, count])), { requiredKeys: [] });

const BOUNDS = [0.001, 0.005, 0.01];

const anyRow = fc.oneof(
  fc.record({
    subject: name.map((cluster) => ({ cluster })),
    tallies: tallied(['requests', 'bytes', 'retrying_layers']),
  }),
  fc.record({
    subject: fc.record({ cluster: name, layer: fc.constantFrom('edge', 'client') }),
    tallies: tallied(['retries']),
  }),
  fc.record({
    subject: name.map((listener) => ({ listener })),
    tallies: tallied(['full_handshakes', 'resumed_handshakes', 'opened', 'connection_seconds', 'services_beside']),
  }),
  fc.record({
    subject: fc.constantFrom('a', 'b').map((zone) => ({ zone, region: 'r1' })),
    tallies: tallied(['requests', 'full_handshakes', 'resumed_handshakes']),
    added: fc.option(
      fc
        .array(count, { minLength: BOUNDS.length + 1, maxLength: BOUNDS.length + 1 })
        .map((counts) => [{ bounds: BOUNDS, counts }]),
      { nil: undefined },
    ),
  }),
  fc.record({
    subject: fc.constantFrom('lb-0', 'lb-1').map((balancer) => ({ balancer })),
    tallies: fc.record({ cpu: fc.double({ min: 0, max: 1, noNaN: true }), resumed_handshakes: count }),
  }),
  fc.record({
    subject: fc.constantFrom('v1', 'v2').map((configVersion) => ({ configVersion })),
    tallies: tallied(['requests', 'errors']),
  }),
);

/** Rows of a week, one per hour and subject, as the store gives them. */
export const anyRows: fc.Arbitrary<readonly HourlyFigures[]> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 168 }), anyRow), { maxLength: 60 })
  .map((drawn) => {
    const rows = new Map<string, HourlyFigures>();
    for (const [hour, { subject, ...told }] of drawn) {
      const { added, tallies } = told as Partial<HourlyFigures>;
      const row = hourRow(hour, subject as Readonly<Record<string, string>>, {
        ...(tallies === undefined ? {} : { tallies }),
        ...(added === undefined ? {} : { added }),
      });
      rows.set(JSON.stringify([hour, subject]), row);
    }
    return [...rows.values()];
  });
