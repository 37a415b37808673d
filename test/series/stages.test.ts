import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { NO_STAGES } from '../../src/model/stages.ts';
import { createBinder } from '../../src/series/bind.ts';
import type { SeriesDescription } from '../../src/series/binding.ts';
import { translate } from '../../src/series/profiles/registry.ts';
import { stageOf } from '../../src/series/stage-of.ts';
import { at } from '../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from './describe.ts';

const EXACT = histogramOf('lb.stage.backend.duration', {}, { unit: 's' });
const AVERAGE = gaugeOf('haproxy_backend_response_time_average_seconds', { proxy: 'web' });

function stagesOf(...descriptions: SeriesDescription[]) {
  const aggregate = createAggregate();
  const binder = createBinder({ slos: [], aggregate });
  for (const description of descriptions) binder.bind(description);
  aggregate.heard('lb-1', new Map(), at(0), at(0));
  return { aggregate, stages: aggregate.balancers(at(0))[0]?.stages };
}

test('the best of several figures of a stage counts, in whatever order they come', () => {
  assert.equal(stagesOf(EXACT, AVERAGE).stages?.backend, 'exact');
  assert.equal(stagesOf(AVERAGE, EXACT).stages?.backend, 'exact');
  assert.equal(stagesOf(AVERAGE).stages?.backend, 'average_only');
});

test('who tells nothing of a stage is said to tell nothing', () => {
  assert.deepEqual(stagesOf(seriesOf('server.live')).stages, NO_STAGES);
});

test('what is bound again is judged anew', () => {
  const { aggregate } = stagesOf(EXACT);
  createBinder({ slos: [], aggregate }).bind(AVERAGE);
  assert.equal(aggregate.balancers(at(0))[0]?.stages.backend, 'average_only');
});

test('connections that clients were refused tell of the accept queue, connects that failed do not', () => {
  const of = (description: SeriesDescription) => translate(description).series.map(stageOf);
  assert.deepEqual(of(seriesOf('listener.downstream_cx_overflow', { 'envoy.listener_address': 'a' })), [
    { name: 'accept_queue', fidelity: 'proxy_signal' },
  ]);
  assert.deepEqual(of(seriesOf('grpc.subchannel.connection_attempts_failed', { 'grpc.target': 'c' })), [null]);
});
