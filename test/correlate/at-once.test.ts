import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ms } from '../../src/base/units.ts';
import { alertOf } from '../support/alerts.ts';
import { Scene } from './scene.ts';

const causes = [
  { cause: 'TelemetryLost', effect: 'HandshakeStorm', scope: 'all' as const, within: ms(300_000), atStart: true },
];
const lost = alertOf('TelemetryLost', { region: 'r2' });
const storm = (zone: string, since: number) => alertOf('HandshakeStorm', { zone }, { since });

describe('what clients do when they move', () => {
  test('the start of a silence explains what follows it within minutes, not what sets in while it lasts', () => {
    const soon = new Scene({ causes }).at(0, ['fired', lost]).at(2, ['fired', storm('a', 2)]);
    assert.equal(soon.open.length, 1);
    const late = new Scene({ causes })
      .at(0, ['fired', lost])
      .ticks(1, 29)
      .at(30, ['fired', storm('a', 30)]);
    assert.equal(late.open.length, 2);
    const lasting = causes.map(({ atStart: _, ...edge }) => edge);
    const whole = new Scene({ causes: lasting })
      .at(0, ['fired', lost])
      .ticks(1, 29)
      .at(30, ['fired', storm('a', 30)]);
    assert.equal(whole.open.length, 1, 'other edges explain while their cause lasts');
  });

  test('a storm in two zones within a minute is one incident, ten minutes apart two', () => {
    const both = new Scene({ causes }).at(0, ['fired', storm('a', 0)]).at(0.5, ['fired', storm('b', 0.5)]);
    assert.equal(both.open.length, 1);
    const apart = new Scene({ causes })
      .at(0, ['fired', storm('a', 0)])
      .ticks(1, 3)
      .at(4, ['fired', storm('b', 4)]);
    assert.equal(apart.open.length, 2);
  });
});
