import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Balancer, EdgeFleet, fleetOf, type Load, MINUTE_MS, type ServiceLoad } from '../support/edge-fleet.ts';

const NAMES = ['shop', 'search', 'accounts', 'media'] as const;
const WELL: ServiceLoad = {
  full: 20,
  failed: 0.01,
  connections: 50,
  requests: 200,
  errors: 0.1,
  added: { perSecond: 200, p99: 0.003 },
};
/** Three times the requests, eight times the connections. */
const LAUNCH: ServiceLoad = { ...WELL, full: 160, connections: 400, requests: 600 };
const SLOW: ServiceLoad = { ...WELL, added: { perSecond: 200, p99: 0.8 } };

/** Shop has the first, the others the second; CPU where it is told. */
const load =
  (shop: ServiceLoad, others: ServiceLoad = WELL, cpu?: number): (() => Load) =>
  () => ({
    services: Object.fromEntries(NAMES.map((name) => [name, name === 'shop' ? shop : others])),
    ...(cpu !== undefined && { cpu }),
  });
const fleet = (balancers: readonly Balancer[] = fleetOf(6)): EdgeFleet =>
  new EdgeFleet({ balancers, detectors: ['NoisyNeighbour'] });
const QUIET_MS = 25 * MINUTE_MS;
const kinds = ({ said }: EdgeFleet): readonly string[] => said.map(({ kind }) => kind);
const texts = (one: EdgeFleet): string =>
  (one.newest('NoisyNeighbour')?.evidence ?? []).map(({ text }) => text).join('\n');

describe('NoisyNeighbour', () => {
  test('a launch that makes the others wait is told within a minute or so: who, how much before and now, what they suffer', () => {
    const one = fleet();
    one.run(QUIET_MS, load(WELL, WELL, 0.4));
    const from = one.now;
    one.run(5 * MINUTE_MS, load(LAUNCH, SLOW, 0.97));
    assert.deepEqual(one.fired(), ['NoisyNeighbour ticket']);
    assert.ok((one.said[0]?.at ?? 0) - from <= 90_000);
    const { summary = '', began } = one.newest('NoisyNeighbour') ?? {};
    assert.match(
      summary,
      /shop takes \d+ % of the .* of 6 balancers \(usual: 25 %\).* suffer: 3 of 3 other services are slower/,
    );
    assert.ok(began !== undefined && began <= (one.said[0]?.at ?? 0) && began >= from - MINUTE_MS);
    assert.match(
      texts(one),
      /shop takes (7[0-9]) % of the TLS handshakes \(usual: 25 %\), [78]\.\d times its usual rate/,
    );
    assert.match(texts(one), /balancers add [78]\d\d ms at p99 to (search|accounts|media) \(usual: 3\.\d ms\)/);
    assert.match(texts(one), /CPU of 6 of 6 shared balancers is above 90 %: 97 % in the mean \(usual: 40 %\)/);
    assert.match(texts(one), /not told: accept queues/);
    one.run(5 * MINUTE_MS, load(WELL, WELL, 0.4));
    assert.deepEqual(kinds(one).slice(-1), ['resolved']);
    assert.equal(one.fired().filter((line) => line.startsWith('NoisyNeighbour')).length, one.said.length - 1);
  });

  test('each figure of the others alone is enough: errors, handshakes that fail, full queues, CPU', () => {
    const blind = { ...WELL, added: undefined };
    const queue = (length: number) => ({ length, limit: 1000 });
    const cases: readonly (readonly [string, ServiceLoad, ServiceLoad, number | undefined])[] = [
      ['others_errors', blind, { ...blind, errors: 20 }, undefined],
      ['others_handshakes', blind, { ...blind, failed: 4 }, undefined],
      ['others_queue', { ...blind, queue: queue(10) }, { ...blind, queue: queue(950) }, undefined],
      ['shared_cpu', blind, blind, 0.97],
    ];
    for (const [name, before, during, cpu] of cases) {
      const one = fleet();
      one.run(QUIET_MS, load(before, before, cpu === undefined ? undefined : 0.4));
      one.run(4 * MINUTE_MS, load({ ...LAUNCH, added: undefined, queue: before.queue }, during, cpu));
      assert.deepEqual(one.fired().slice(0, 1), ['NoisyNeighbour ticket'], name);
      assert.notEqual(one.evidence('NoisyNeighbour', name), undefined, name);
    }
  });

  test('a launch that harms nobody, others that suffer alone, and growth of all are not', () => {
    const harmless = fleet();
    harmless.run(QUIET_MS, load(WELL, WELL, 0.3));
    harmless.run(10 * MINUTE_MS, load(LAUNCH, WELL, 0.7));
    assert.deepEqual(harmless.said, []);
    const alone = fleet();
    alone.run(QUIET_MS, load(WELL, WELL, 0.3));
    alone.run(10 * MINUTE_MS, load(WELL, SLOW, 0.97));
    assert.deepEqual(alone.said, []);
    const all = fleet();
    all.run(QUIET_MS, load(WELL, WELL, 0.3));
    all.run(10 * MINUTE_MS, load(LAUNCH, { ...LAUNCH, added: { perSecond: 600, p99: 0.8 } }, 0.97));
    assert.deepEqual(all.said, []);
  });

  test('a share that rises because the others fall away is not', () => {
    const one = fleet();
    one.run(QUIET_MS, load(WELL));
    one.run(10 * MINUTE_MS, load(WELL, { ...WELL, full: 1, connections: 2, requests: 10, errors: 10 }));
    assert.deepEqual(one.said, []);
  });

  test('one other service that is slow by itself is not: at least half of them must be', () => {
    const one = fleet();
    const services = (shop: ServiceLoad, search: ServiceLoad): Load => ({
      services: { shop, search, accounts: WELL, media: WELL },
    });
    one.run(QUIET_MS, () => services(WELL, WELL));
    one.run(10 * MINUTE_MS, () => services(LAUNCH, SLOW));
    assert.deepEqual(one.said, []);
  });

  test('services of other balancers are no neighbours', () => {
    const one = fleet(fleetOf(8));
    const isFirst = ({ id }: Balancer): boolean => Number(id.slice(5)) < 4;
    const split =
      (shop: ServiceLoad, far: ServiceLoad) =>
      (balancer: Balancer): Load => ({
        services: isFirst(balancer) ? { shop, search: WELL } : { accounts: far, media: far },
      });
    one.run(QUIET_MS, split(WELL, WELL));
    one.run(10 * MINUTE_MS, split(LAUNCH, { ...SLOW, errors: 20, failed: 5 }));
    assert.deepEqual(one.said, []);
  });

  test('it is one alert while it lasts, whether its listener or its cluster stands out', () => {
    const one = fleet();
    one.run(QUIET_MS, load(WELL));
    one.run(4 * MINUTE_MS, load(LAUNCH, SLOW));
    one.run(4 * MINUTE_MS, load({ ...LAUNCH, requests: 200 }, SLOW));
    one.run(4 * MINUTE_MS, load({ ...LAUNCH, full: 20, connections: 50 }, SLOW));
    one.run(4 * MINUTE_MS, load(WELL));
    const marks = kinds(one).filter((kind) => kind !== 'updated');
    assert.deepEqual(marks, ['fired', 'resolved']);
  });

  test('it goes on through silence, a restart and a start without data', () => {
    const one = fleet();
    one.run(QUIET_MS, load(WELL));
    one.run(3 * MINUTE_MS, load(LAUNCH, SLOW));
    one.run(10 * MINUTE_MS, () => null);
    one.restart();
    one.tick();
    one.forget();
    one.tick();
    assert.deepEqual(
      kinds(one).filter((kind) => kind !== 'updated'),
      ['fired'],
    );
  });
});
