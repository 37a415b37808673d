import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  decodeAlert,
  decodeChange,
  decodeIncident,
  encodeAlert,
  encodeChange,
  encodeIncident,
} from '../../src/store/codec.ts';
import { anyAlert, anyChange, anyIncident } from './random-values.ts';

// fast-check makes records without a prototype; the codec gives plain objects.
const plain = <T>(value: T): T => structuredClone(value);

describe('the JSON of incidents', () => {
  test('gives back any alert, incident and change exactly, whatever its texts and numbers are', () => {
    fc.assert(
      fc.property(anyAlert, anyIncident, anyChange, (alert, incident, change) => {
        assert.deepEqual(decodeAlert(encodeAlert(alert)), plain(alert));
        assert.deepEqual(decodeIncident(encodeIncident(incident)), plain(incident));
        assert.deepEqual(decodeChange(encodeChange(change)), plain(change));
      }),
      { seed: 11, numRuns: 500 },
    );
  });
});
