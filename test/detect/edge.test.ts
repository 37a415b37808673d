import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Balancer, DAY_MS, EdgeFleet, fleetOf, HOUR_MS, type Load, MINUTE_MS } from '../support/edge-fleet.ts';

/** A healthy balancer of six: resumption 65 %, a sixth of 5,000 full handshakes a second, added p99 2 ms, CPU 40 %. */
const HEALTHY: Load = {
  full: 833,
  resumed: 1548,
  connections: 2381,
  requests: 4000,
  errors: 2,
  cpu: 0.4,
  added: { perSecond: 4000, p99: 0.002 },
  durations: {
    'http.server.request.duration': [{ perSecond: 4000, p99: 0.15 }],
    'lb.stage.accept_queue.duration': [{ perSecond: 2381, p99: 0.004 }],
    'lb.stage.tls.duration': [{ perSecond: 2381, p99: 0.05 }],
    'lb.stage.connect.duration': [{ perSecond: 400, p99: 0.005 }],
    'lb.stage.backend.duration': [{ perSecond: 4000, p99: 0.12 }],
    'lb.stage.write.duration': [{ perSecond: 4000, p99: 0.01 }],
  },
  queue: { length: 3, limit: 4096 },
  overflows: 0,
  config: 'v1',
};
const EDGE = [
  'HandshakeStorm',
  'BalancerSaturation',
  'StageTailShift',
  'AcceptQueueSaturation',
  'ConfigPushRegression',
  'CertificateRenewalStalled',
];

/** Two hours of health, then what the test does. */
function scene(options: ConstructorParameters<typeof EdgeFleet>[0] = {}, healthy: Load = HEALTHY) {
  const fleet = new EdgeFleet({ detectors: EDGE, ...options });
  fleet.run(2 * HOUR_MS, () => healthy, false);
  fleet.run(MINUTE_MS, () => healthy);
  assert.deepEqual(fleet.said, []);
  return { fleet, from: fleet.now };
}

const scaled = (load: Load, factor: number): Load => ({
  ...load,
  full: (load.full ?? 0) * factor,
  resumed: (load.resumed ?? 0) * factor,
  connections: (load.connections ?? 0) * factor,
  requests: (load.requests ?? 0) * factor,
  errors: (load.errors ?? 0) * factor,
});

describe('ticket keys rotated without an overlap', () => {
  const ROTATED: Load = { ...HEALTHY, full: 2417, resumed: 0, cpu: 0.97, added: { perSecond: 4000, p99: 0.3 } };

  test('is a handshake storm by ticket keys within two minutes, and explains the CPU', () => {
    const { fleet, from } = scene();
    fleet.run(3 * MINUTE_MS, () => ROTATED);
    const storm = fleet.said.find(({ alert }) => alert.name === 'HandshakeStorm');
    assert.ok(storm !== undefined && storm.at - from <= 2 * MINUTE_MS, String(fleet.lines(from)));
    assert.equal(fleet.evidence('HandshakeStorm', 'cause'), 'ticket_keys');
    assert.deepEqual(storm.alert.place, {});
    assert.match(storm.alert.summary, /0\.00 % are resumed \(usual: 65 %\)/);
    assert.deepEqual([...new Set(fleet.fired())].sort(), ['BalancerSaturation ticket', 'HandshakeStorm ticket']);
  });

  test('goes on while it lasts, for hours, and ends once keys are back', () => {
    const { fleet } = scene({ detectors: ['HandshakeStorm'] });
    fleet.run(5 * MINUTE_MS, () => ROTATED);
    fleet.run(5 * HOUR_MS, () => ROTATED, false);
    fleet.run(MINUTE_MS, () => ROTATED);
    assert.deepEqual(fleet.fired(), ['HandshakeStorm ticket']);
    assert.equal(fleet.said.length, 1);
    fleet.run(5 * MINUTE_MS, () => HEALTHY);
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired', 'resolved'],
    );
  });

  test('in one zone it is told of that zone alone', () => {
    const { fleet } = scene({ detectors: ['HandshakeStorm'] });
    fleet.run(4 * MINUTE_MS, ({ zone }) => (zone === 'b' ? ROTATED : HEALTHY));
    assert.deepEqual(
      fleet.said.map(({ alert }) => alert.place),
      [{ zone: 'b' }],
    );
  });
});

describe('launch day', () => {
  const LAUNCH: Load = {
    ...scaled(HEALTHY, 3),
    full: 833 * 8,
    connections: 833 * 8 + 1548,
    cpu: 0.98,
    keyType: 'rsa2048',
  };

  test('is a storm by new clients; the RSA-only certificate is said', () => {
    const { fleet } = scene({}, { ...HEALTHY, keyType: 'rsa2048' });
    fleet.run(3 * MINUTE_MS, () => LAUNCH);
    assert.equal(fleet.evidence('HandshakeStorm', 'cause'), 'launch_traffic');
    assert.equal(fleet.evidence('HandshakeStorm', 'rsa_share'), 1);
    assert.ok(fleet.fired().includes('BalancerSaturation ticket'));
  });

  test('a balancer that tells no connections is judged by its handshakes', () => {
    const { connections: _, ...quiet } = HEALTHY;
    const { connections: __, ...loud } = LAUNCH;
    const { fleet } = scene({ detectors: ['HandshakeStorm'] }, quiet);
    fleet.run(3 * MINUTE_MS, () => loud);
    assert.equal(fleet.evidence('HandshakeStorm', 'cause'), 'launch_traffic');
  });
});

describe('a config push that makes proxies slow', () => {
  const BAD: Load = { ...HEALTHY, config: 'v2', cpu: 1, added: { perSecond: 4000, p99: 9 } };

  test('everywhere at once it pages within a minute or so and is blamed on the version', () => {
    const { fleet, from } = scene();
    fleet.run(10_000, () => ({ ...HEALTHY, config: 'v2' }));
    fleet.run(5 * MINUTE_MS, () => BAD);
    const page = fleet.said.find(({ alert }) => alert.severity === 'page');
    assert.equal(page?.alert.name, 'BalancerSaturation');
    assert.ok((page?.at ?? 0) - from <= 120_000, String(fleet.lines(from)));
    const push = fleet.said.find(({ alert }) => alert.name === 'ConfigPushRegression');
    assert.ok(push !== undefined && push.at - from <= 4 * MINUTE_MS, String(fleet.lines(from)));
    assert.equal(push.alert.place.configVersion, 'v2');
    assert.equal(fleet.evidence('ConfigPushRegression', 'verdict'), 'rollback');
    assert.equal(fleet.evidence('ConfigPushRegression', 'rollout'), 'global');
  });

  test('stopped at the canary it is a ticket of the canary, and ends with the roll-back', () => {
    const { fleet, from } = scene({ balancers: fleetOf(20) });
    const canary = ({ id }: Balancer): Load => (id === 'edge-3' ? BAD : HEALTHY);
    fleet.run(5 * MINUTE_MS, canary);
    assert.deepEqual(
      fleet.fired().filter((one) => one.includes('page')),
      [],
    );
    const push = fleet.newest('ConfigPushRegression');
    assert.deepEqual(push?.place, { configVersion: 'v2', zone: 'a', balancer: 'edge-3' }, String(fleet.lines(from)));
    assert.equal(fleet.evidence('ConfigPushRegression', 'rollout'), 'canary');
    fleet.run(3 * MINUTE_MS, () => HEALTHY);
    assert.equal(fleet.said.findLast(({ alert }) => alert.name === 'ConfigPushRegression')?.kind, 'resolved');
  });

  test('errors of a canary count by sums: one in a hundred more is found, the same share everywhere is not', () => {
    const errors: Load = { ...HEALTHY, config: 'v2', requests: 3960, errors: 42 };
    const { fleet } = scene({ balancers: fleetOf(20), detectors: ['ConfigPushRegression'] });
    fleet.run(3 * MINUTE_MS, ({ id }) => (id === 'edge-3' ? errors : HEALTHY));
    assert.deepEqual(fleet.fired(), ['ConfigPushRegression ticket']);
    const calm = scene({ balancers: fleetOf(20), detectors: ['ConfigPushRegression'] }).fleet;
    calm.run(3 * MINUTE_MS, ({ id }) => ({ ...errors, config: id === 'edge-3' ? 'v2' : 'v1' }));
    assert.deepEqual(calm.fired(), []);
  });

  test('instances that are replaced by new ones with the version are compared with those before them', () => {
    const bad: Load = { ...HEALTHY, config: 'v2', errors: 120 };
    const replaced = (after: Load): readonly string[] => {
      const balancers = [...fleetOf(4), { id: 'pod-1', zone: 'a' }, { id: 'pod-2', zone: 'b' }];
      const fleet = new EdgeFleet({ balancers, detectors: ['ConfigPushRegression'] });
      fleet.run(HOUR_MS, ({ id }) => (id.startsWith('pod') ? null : HEALTHY), false);
      fleet.run(5 * MINUTE_MS, ({ id }) => (id.startsWith('pod') ? after : null));
      return fleet.fired();
    };
    assert.deepEqual(replaced(bad), ['ConfigPushRegression ticket']);
    assert.deepEqual(replaced({ ...bad, errors: 2 }), []);
  });

  test('a canary in a zone that always was worse is not blamed', () => {
    const worse: Load = { ...HEALTHY, errors: 80, cpu: 0.7, added: { perSecond: 4000, p99: 0.02 } };
    const of = ({ zone }: Balancer): Load => (zone === 'a' ? worse : HEALTHY);
    const fleet = new EdgeFleet({ balancers: fleetOf(9), detectors: ['ConfigPushRegression'] });
    fleet.run(HOUR_MS, of, false);
    fleet.run(20 * MINUTE_MS, (one) => (one.id === 'edge-0' ? { ...of(one), config: 'v2' } : of(one)));
    assert.deepEqual(fleet.fired(), []);
  });
});

describe('a full accept queue', () => {
  const wait = (p99: number): NonNullable<Load['durations']> => ({
    ...HEALTHY.durations,
    'lb.stage.accept_queue.duration': [{ perSecond: 2381, p99 }],
  });

  test('is told by its length, and by connections turned away', () => {
    const { fleet } = scene({ detectors: ['AcceptQueueSaturation'] });
    fleet.run(MINUTE_MS, ({ id }) =>
      id === 'edge-1' ? { ...HEALTHY, queue: { length: 3900, limit: 4096 } } : HEALTHY,
    );
    assert.deepEqual(fleet.fired(), ['AcceptQueueSaturation ticket']);
    assert.deepEqual(fleet.newest('AcceptQueueSaturation')?.place, { zone: 'b', balancer: 'edge-1' });
    assert.equal(fleet.evidence('AcceptQueueSaturation', 'length'), 3900);
    const other = scene({ detectors: ['AcceptQueueSaturation'] }).fleet;
    other.run(MINUTE_MS, () => ({ ...HEALTHY, overflows: 5 }));
    assert.deepEqual(other.fired(), ['AcceptQueueSaturation ticket']);
  });

  test('by its wait it says the utilisation, and hosts stay fine', () => {
    const { fleet } = scene({}, { ...HEALTHY, durations: wait(0.004 * 4.6) });
    const full = {
      ...HEALTHY,
      durations: { ...wait(0.9), 'http.server.request.duration': [{ perSecond: 4000, p99: 0.9 }] },
    };
    fleet.run(6 * MINUTE_MS, () => full);
    assert.deepEqual([...new Set(fleet.fired())].sort(), ['AcceptQueueSaturation ticket', 'StageTailShift ticket']);
    const utilization = fleet.evidence('AcceptQueueSaturation', 'utilization');
    assert.ok(typeof utilization === 'number' && utilization > 0.97 && utilization < 1, String(utilization));
    assert.equal(fleet.evidence('StageTailShift', 'stage'), 'accept_queue');
  });

  test('one step of it is a pause, and few connections turned away are none', () => {
    const { fleet } = scene({ detectors: ['AcceptQueueSaturation'] });
    fleet.run(10_000, () => ({ ...HEALTHY, queue: { length: 4096, limit: 4096 } }));
    fleet.run(10 * MINUTE_MS, () => ({ ...HEALTHY, overflows: 0.002 }));
    assert.deepEqual(fleet.fired(), []);
  });
});

describe('the stage that explains the tail', () => {
  const request = (p99: number): readonly { perSecond: number; p99: number }[] => [{ perSecond: 4000, p99 }];
  const slow = (over: NonNullable<Load['durations']>, more: Partial<Load> = {}): Load => ({
    ...HEALTHY,
    ...more,
    durations: { ...HEALTHY.durations, 'http.server.request.duration': request(0.6), ...over },
  });
  const without = ({ added: _, ...told }: Load): Load => told;
  const stageOf = (load: Load, healthy = HEALTHY): unknown => {
    const { fleet } = scene({ detectors: ['StageTailShift'] }, healthy);
    fleet.run(6 * MINUTE_MS, () => load);
    return fleet.evidence('StageTailShift', 'stage');
  };

  test('is the one that became slow', () => {
    assert.equal(stageOf(slow({ 'lb.stage.write.duration': request(0.6) })), 'write');
    assert.equal(stageOf(slow({ 'lb.stage.tls.duration': request(0.9) })), 'tls');
  });

  test('is the balancer itself, clients, or nothing that is known', () => {
    assert.equal(stageOf(slow({}, { added: { perSecond: 4000, p99: 0.6 } })), 'proxy_internal');
    assert.equal(stageOf(slow({})), 'client');
    assert.equal(stageOf(without(slow({})), without(HEALTHY)), 'unattributed');
  });

  test('are the hosts themselves where few of their answers are slow, and says so without a contradiction', () => {
    const few = (usual: number) => [
      { perSecond: 3900, p99: usual },
      { perSecond: 100, p99: 5 },
    ];
    const load = slow({ 'http.server.request.duration': few(0.15), 'lb.stage.backend.duration': few(0.12) });
    const { fleet } = scene({ detectors: ['StageTailShift'] });
    fleet.run(6 * MINUTE_MS, () => load);
    assert.equal(fleet.evidence('StageTailShift', 'stage'), 'backend');
    assert.match(
      fleet.said.at(-1)?.alert.summary ?? '',
      /95 % of the answers of hosts come as fast as ever: stage backend/,
    );
  });

  test('slower hosts are another alert, and so is a tail as it was', () => {
    assert.equal(stageOf(slow({ 'lb.stage.backend.duration': request(0.5) })), undefined);
    assert.equal(stageOf(HEALTHY), undefined);
  });
});

describe('a certificate', () => {
  /** Ticks once an hour of days; ends and renewals in days after the start. */
  function watch(days: number, endsAt: (day: number) => number, watchedFor = 0) {
    const fleet = new EdgeFleet({ balancers: fleetOf(2), detectors: ['CertificateRenewalStalled'], everyMs: HOUR_MS });
    const start = fleet.now;
    const of = (_: Balancer, now: number): Load => {
      const day = (now - start) / DAY_MS;
      return { requests: 10, certificates: { shop: (start + endsAt(day) * DAY_MS) / 1000 } };
    };
    if (watchedFor > 0) fleet.run(watchedFor * DAY_MS, of, false);
    fleet.run((days - watchedFor) * DAY_MS, of);
    return fleet.said.map(({ at, kind, alert }) => `${kind} ${alert.severity} ${Math.floor((at - start) / DAY_MS)}`);
  }

  test('that its automation renews in time says nothing', () => {
    // Ninety days, renewed at thirty left, four times.
    assert.deepEqual(
      watch(250, (day) => 90 + 60 * Math.floor(day / 60)),
      [],
    );
    // Watched only since five days before its renewal, which comes half a day late.
    assert.deepEqual(
      watch(60, (day) => (day < 5.5 ? 35 : 95)),
      [],
    );
  });

  test('whose renewal fails pages with less than a fortnight left, not before', () => {
    assert.deepEqual(
      watch(80, () => 90),
      ['fired page 76'],
    );
  });

  test('renewed once and then no more is the same', () => {
    assert.deepEqual(
      watch(140, (day) => (day < 60 ? 90 : 150)),
      ['fired page 136'],
    );
  });

  test('of which nothing is known is a ticket at thirty days, or at fourteen, and the same alert pages at seven', () => {
    assert.deepEqual(
      watch(12, () => 32),
      ['fired ticket 3'],
    );
    assert.deepEqual(
      watch(10, () => 15),
      ['fired ticket 0', 'changed page 8'],
    );
  });

  test('that goes on without a renewal until one was due is the same alert too, which rises', () => {
    assert.deepEqual(
      watch(20, () => 32),
      ['fired ticket 3', 'changed page 18'],
    );
  });

  test('renewed to less than thirty days is renewed', () => {
    // Twenty-eight days, renewed at thirteen left, which is a day late.
    assert.deepEqual(
      watch(30, (day) => (day < 15 ? 28 : 43)).filter((line) => !line.startsWith('fired')),
      ['resolved ticket 15'],
    );
  });

  test('renewed at last, all of it ends', () => {
    const said = watch(12, (day) => (day < 10 ? 15 : 105));
    assert.deepEqual(said.slice(-2), ['changed page 8', 'resolved page 10']);
  });

  test('of a short life has short limits', () => {
    // Six days, renewed at two left; then no more. A sixth is a day.
    assert.deepEqual(
      watch(22, (day) => 6 + 4 * Math.min(4, Math.floor(day / 4)), 5),
      ['fired page 21'],
    );
    // A day, renewed at half of it, watched since the middle of one.
    assert.deepEqual(
      watch(9, (day) => 0.7 + 0.5 * Math.floor(day / 0.5)),
      [],
    );
  });
});

describe('nothing is said on', () => {
  const quiet = (name: string, run: (fleet: EdgeFleet, from: number) => void, healthy: Load = HEALTHY): void => {
    test(name, () => {
      const { fleet, from } = scene({}, healthy);
      run(fleet, from);
      assert.deepEqual(fleet.lines(from), []);
    });
  };

  quiet('a rolling deploy with a config change', (fleet, from) => {
    // One balancer after the other: silent for half a minute, then back with the new version and colder CPU caches.
    fleet.run(20 * MINUTE_MS, ({ id }, now) => {
      const turn = from + Number(id.slice(5)) * 2 * MINUTE_MS;
      if (now > turn && now <= turn + 30_000) return null;
      return now <= turn ? HEALTHY : { ...HEALTHY, config: 'v2', cpu: 0.45, full: now < turn + MINUTE_MS ? 1200 : 833 };
    });
  });

  quiet('a doubled but healthy load, with a config push in it', (fleet, from) => {
    fleet.run(90 * MINUTE_MS, (_, now) => {
      const factor = 1 + Math.min(1, (now - from) / HOUR_MS);
      const durations = Object.fromEntries(
        Object.entries(HEALTHY.durations ?? {}).map(([name, parts]) => [
          name,
          parts.map((one) => ({ ...one, perSecond: one.perSecond * factor })),
        ]),
      );
      const grown = { ...scaled(HEALTHY, factor), durations, cpu: 0.4 * factor };
      return now - from > 10 * MINUTE_MS ? { ...grown, config: 'v2' } : grown;
    });
  });

  const night: Load = {
    full: 1 / 3600,
    resumed: 2 / 3600,
    connections: 3 / 3600,
    requests: 10 / 3600,
    errors: 0.1 / 3600,
    cpu: 0.02,
    durations: { 'http.server.request.duration': [{ perSecond: 10 / 3600, p99: 0.2 }] },
    config: 'v1',
  };
  quiet('a night of ten requests an hour', (fleet) => fleet.run(8 * HOUR_MS, () => night), night);
});

/** Per detector what makes it fire, from health. */
const FIRING: Readonly<Record<string, Load>> = {
  HandshakeStorm: { ...HEALTHY, full: 2417, resumed: 0 },
  BalancerSaturation: { ...HEALTHY, cpu: 0.97 },
  StageTailShift: {
    ...HEALTHY,
    durations: {
      ...HEALTHY.durations,
      'http.server.request.duration': [{ perSecond: 4000, p99: 0.6 }],
      'lb.stage.write.duration': [{ perSecond: 4000, p99: 0.6 }],
    },
  },
  AcceptQueueSaturation: { ...HEALTHY, queue: { length: 4000, limit: 4096 }, overflows: 3 },
  ConfigPushRegression: { ...HEALTHY, config: 'v2', errors: 200 },
  CertificateRenewalStalled: { ...HEALTHY, certificates: { shop: 20_005 * 86_400 } },
};

describe('no data is not recovery', () => {
  for (const [name, firing] of Object.entries(FIRING)) {
    test(`${name} goes on while its balancers are silent, over a restart too, and ends with good figures`, () => {
      const { fleet } = scene({ detectors: [name] });
      fleet.run(6 * MINUTE_MS, () => firing);
      const before = [...fleet.fired()];
      assert.ok(before.length > 0 && before.every((one) => one.startsWith(name)), String(before));
      // Ticks go on; nobody is heard.
      fleet.run(20 * MINUTE_MS, () => null);
      fleet.restart();
      fleet.run(5 * MINUTE_MS, () => null);
      assert.deepEqual(fleet.fired(), before);
      assert.ok(fleet.said.every(({ kind }) => kind === 'fired'));
      fleet.run(2 * MINUTE_MS, () => firing);
      assert.deepEqual(fleet.fired(), before, 'heard again and as bad: still the same alert');
      const renewed = { shop: 20_090 * 86_400 };
      fleet.run(12 * MINUTE_MS, () => ({ ...HEALTHY, certificates: renewed }));
      assert.equal(fleet.said.at(-1)?.kind, 'resolved', String(fleet.said.map(({ kind }) => kind)));
      assert.equal(fleet.said.filter(({ kind }) => kind === 'resolved').length, before.length);
    });

    test(`${name} without any data and any history holds what it was told of, and fires nothing`, () => {
      const { fleet } = scene({ detectors: [name] });
      fleet.run(6 * MINUTE_MS, () => firing);
      const count = fleet.said.length;
      fleet.forget();
      fleet.tick();
      assert.equal(fleet.said.length, count);
    });
  }
});

test('identities of the edge carry no measured value, and each finding has evidence in words and figures', () => {
  for (const [name, firing] of Object.entries(FIRING)) {
    const { fleet } = scene({ detectors: [name] });
    fleet.run(6 * MINUTE_MS, () => firing);
    const alert = fleet.newest(name);
    assert.ok(alert !== undefined, name);
    assert.ok(alert.evidence.length >= 2, name);
    for (const { text, value, unit } of alert.evidence) {
      assert.ok(text.length > 5, name);
      assert.ok(typeof value !== 'number' || unit !== undefined, `${name}: ${text}`);
    }
    for (const [label, value] of alert.labels) assert.ok(label === 'configVersion' || !/\d\.\d/.test(value), value);
  }
});
