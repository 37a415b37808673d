import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HOUR, HostFleet, MINUTE } from '../support/host-fleet.ts';

const minutes = (count: number): number => (count * MINUTE) / 1000;
const fired = (said: readonly string[]): string[] => said.filter((line) => line.startsWith('fired'));
const BAD = '10.0.0.7:8080';

/** 40 hosts, 400 requests a second in all, 40 ms, one request in a thousand fails. */
const well = () => ({ requests: 100, errors: 0.001, time: 0.04 });

describe('FastFailSinkhole', () => {
  test('least connections: a host that answers 503 in 2 ms and draws a third of the traffic', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'FastFailSinkhole');
    fleet.run(minutes(40), well);
    const sinking = ({ index }: { index: number }) =>
      index === 7 ? { requests: 1400, errors: 1, time: 0.002 } : { requests: 66, errors: 0.001, time: 0.04 };
    const said = fleet.run(minutes(8), sinking);
    assert.deepEqual(said, [`fired FastFailSinkhole ticket ${BAD} @2410`]);
    const [alert] = fleet.alerts;
    assert.match(alert?.summary ?? '', /fails \d+ % of its requests .* answers in .* draws/);
    assert.ok(
      alert?.evidence.some((text) => /^share of traffic 2\.5 % to [\d.]+ %$/.test(text)),
      `${alert?.evidence}`,
    );
    assert.deepEqual(fleet.run(minutes(9), well), [], 'ten minutes are not clean yet');
    assert.deepEqual(fleet.run(minutes(3), well).length, 1, 'then it is over');
  });

  test('P2C without times: errors, and a share that has doubled', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'FastFailSinkhole');
    fleet.run(minutes(40), () => ({ requests: 100, errors: 0.001 }));
    const said = fleet.run(minutes(2), ({ index }) =>
      index === 7 ? { requests: 200, errors: 0.5 } : { requests: 97, errors: 0.001 },
    );
    assert.deepEqual(fired(said), [`fired FastFailSinkhole ticket ${BAD} @2440`]);
  });

  test('ejected for 30, 60 and 90 s: the third time says so, though hardly an error is left', () => {
    const fleet = new HostFleet({ hosts: 40, balancers: ['edge-1', 'edge-2'] }, 'FastFailSinkhole');
    fleet.run(minutes(40), well);
    const ejectedAt = [10, 50, 120].map((second) => second + fleet.seconds);
    const labels = { cluster: 'checkout', host: BAD, reason: 'consecutive_5xx' };
    const said = fleet.run(
      minutes(15),
      ({ index, at }) => (index !== 7 ? well() : { requests: at < 2530 ? 1 : 0, errors: 0.5 }),
      (scene) => {
        if (!ejectedAt.includes(scene.seconds)) return;
        for (const balancer of ['edge-1', 'edge-2']) scene.count('cluster.ejections', { ...labels, balancer }, 1);
      },
    );
    assert.equal(said.length, 2);
    assert.equal(said[0], `fired FastFailSinkhole ticket ${BAD} @2520`);
    const clean = Number(said[1]?.split('@')[1]) - 2520;
    assert.ok(clean >= 480 && clean <= 620, `ten minutes after the first ejection: ${said[1]}`);
  });

  test('ejected three times while most of its peers time out as it does: what they depend on is bad, not it', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'FastFailSinkhole');
    fleet.run(minutes(40), well);
    const ejectedAt = [10, 50, 120].map((second) => second + fleet.seconds);
    const labels = { cluster: 'checkout', host: BAD, reason: 'consecutive_5xx', balancer: 'edge-1' };
    const eject = (scene: HostFleet): void => {
      if (ejectedAt.includes(scene.seconds)) scene.count('cluster.ejections', labels, 1);
    };
    const waiting = ({ index }: { index: number }) => ({ requests: 20, errors: index < 24 ? 1 : 0.001 });
    assert.deepEqual(fleet.run(minutes(5), waiting, eject), []);
    assert.deepEqual(fleet.run(minutes(15), well), [], 'nor when it is over and the ejections are not yet forgotten');
  });

  test('two ejections by each of two balancers are not three by one', () => {
    const fleet = new HostFleet({ hosts: 40, balancers: ['edge-1', 'edge-2'] }, 'FastFailSinkhole');
    const labels = { cluster: 'checkout', host: BAD, reason: 'consecutive_5xx' };
    const said = fleet.run(minutes(5), well, (scene) => {
      if (scene.seconds % 150 !== 60) return;
      for (const balancer of ['edge-1', 'edge-2']) scene.count('cluster.ejections', { ...labels, balancer }, 1);
    });
    assert.deepEqual(said, []);
  });

  test('a host that fails at the pace and share of its peers is no sinkhole', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'FastFailSinkhole');
    fleet.run(minutes(40), well);
    const said = fleet.run(minutes(5), ({ index }) => (index === 7 ? { ...well(), errors: 0.5 } : well()));
    assert.deepEqual(said, []);
  });
});

describe('HostOutlier', () => {
  test('a host that fails a twentieth of its requests stands out in two windows running', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'HostOutlier');
    fleet.run(minutes(30), well);
    const said = fleet.run(minutes(10), ({ index }) => (index === 7 ? { ...well(), errors: 0.05 } : well()));
    assert.deepEqual(
      said.map((line) => line.replace(/@.*/, '')),
      [`fired HostOutlier ticket ${BAD} `],
    );
    const at = Number(said[0]?.split('@')[1]) - 1800;
    assert.ok(at >= 60 && at <= 120, `after ${at} s`);
    assert.deepEqual(fleet.run(minutes(12), well).length, 1, 'resolves when its ten minutes are clean');
  });

  test('a quiet host is found by the long window: 12 requests a minute, a third of them fail', () => {
    const fleet = new HostFleet({ hosts: 20 }, 'HostOutlier');
    fleet.run(minutes(30), () => ({ requests: 2, errors: 0.001 }));
    const said = fleet.run(minutes(30), ({ index }) => ({ requests: 2, errors: index === 7 ? 0.33 : 0.001 }));
    assert.deepEqual(
      said.map((line) => line.replace(/@.*/, '')),
      [`fired HostOutlier ticket ${BAD} `],
    );
  });

  test('a host three times as slow as its peers stands out, one twice as slow does not', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'HostOutlier');
    const slow = (factor: number) => (host: { index: number }) => ({
      ...well(),
      time: host.index === 7 ? 0.04 * factor : 0.04,
    });
    assert.deepEqual(fleet.run(minutes(30), slow(2)), []);
    assert.deepEqual(fired(fleet.run(minutes(5), slow(3.5))).length, 1);
    assert.match(fleet.alerts[0]?.summary ?? '', /takes 140 ms a request \(its peers: 40 ms\)/);
  });

  test('a slow dependency: 60 % of the hosts time out, and none is an outlier', () => {
    const fleet = new HostFleet({ hosts: 20 }, 'HostOutlier', 'FastFailSinkhole');
    fleet.run(minutes(30), well);
    const said = fleet.run(minutes(15), ({ index }) => (index < 12 ? { requests: 100, errors: 0.6, time: 2 } : well()));
    assert.deepEqual(said, []);
  });

  test('goes on while its cluster is silent, through a restart, and ends when the host gets no more requests', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'HostOutlier');
    const bad = ({ index }: { index: number }) => ({ ...well(), errors: index === 7 ? 0.5 : 0.001 });
    fleet.run(minutes(20), bad);
    assert.equal(fleet.said.length, 1);
    assert.deepEqual(fleet.silence(minutes(30)), []);
    fleet.restart();
    assert.deepEqual(fleet.run(minutes(2), bad), []);
    const drained = ({ index }: { index: number }) => (index === 7 ? { requests: 0 } : well());
    assert.deepEqual(fleet.run(minutes(15), drained).length, 1);
    assert.match(fleet.said[1] ?? '', /^resolved HostOutlier/);
  });
});

describe('EjectionCapReached', () => {
  const out = (count: number) => (fleet: HostFleet) =>
    fleet.gauge('cluster.ejections.active', { cluster: 'checkout' }, count);

  test('a refused ejection counts, and so do hosts out up to the cap', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'EjectionCapReached');
    assert.deepEqual(fleet.run(60, well, out(3)), [], 'a tenth of 40 is four');
    assert.deepEqual(fleet.run(60, well, out(4)), ['fired EjectionCapReached ticket checkout @70']);
    assert.deepEqual(fleet.run(60, well, out(0)), ['resolved EjectionCapReached ticket checkout @130']);
    const refuse = (scene: HostFleet) => {
      scene.count(
        'cluster.ejections.refused',
        { cluster: 'checkout', balancer: 'edge-1' },
        scene.seconds === 190 ? 1 : 0,
      );
    };
    assert.deepEqual(fleet.run(60, well, refuse), ['fired EjectionCapReached ticket checkout @190']);
    assert.deepEqual(fleet.run(360, well), ['resolved EjectionCapReached ticket checkout @490']);
  });

  test('one host out of a small pool is not yet the cap, two are', () => {
    const fleet = new HostFleet({ hosts: 5 }, 'EjectionCapReached');
    assert.deepEqual(fleet.run(60, well, out(1)), []);
    assert.deepEqual(fleet.run(60, well, out(2)), ['fired EjectionCapReached ticket checkout @70']);
  });

  test('requests without a healthy host page; a balancer that starts without hosts does not', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'EjectionCapReached');
    const unserved = (count: number) => (scene: HostFleet) =>
      scene.count('cluster.no_healthy.requests', { cluster: 'checkout' }, count);
    assert.deepEqual(fleet.run(120, well, unserved(20)), [], '2 % of the requests');
    assert.deepEqual(
      fleet.run(60, () => ({ requests: 0 }), unserved(100)),
      ['fired EjectionCapReached page checkout @140'],
    );
  });
});

describe('HealthCheckCascade', () => {
  const clusters = Array.from({ length: 140 }, (_, index) => `s${index}`);
  const isHit = (cluster: string): boolean => Number(cluster.slice(1)) < 34;

  test('34 of 140 services lose all hosts at once: one page for the fleet, none for each', () => {
    const fleet = new HostFleet({ hosts: 4, clusters }, 'HealthCheckCascade');
    const quiet = () => ({ requests: 1 });
    fleet.run(minutes(5), quiet);
    const down = ({ cluster }: { cluster: string }) => ({ requests: 1, isHealthy: !isHit(cluster) });
    const during = fleet.run(90, down);
    assert.deepEqual(during, ['fired HealthCheckCascade page fleet @310']);
    assert.match(fleet.alerts[0]?.summary ?? '', /^Hosts of 34 of 140 clusters became unhealthy at the same moment/);
    fleet.restart();
    const after = fleet.run(minutes(5), quiet);
    assert.deepEqual(
      after.map((line) => line.replace(/@.*/, '')),
      ['resolved HealthCheckCascade page fleet '],
    );
  });

  test('pools of five that fall into panic are the page of the fleet from the first reading on', () => {
    const fleet = new HostFleet({ hosts: 5, clusters: clusters.slice(0, 20) }, 'HealthCheckCascade');
    fleet.run(minutes(5), () => ({ requests: 100 }));
    const panic = (scene: HostFleet): void => {
      for (const cluster of clusters.slice(0, 20)) scene.count('cluster.panic.requests', { cluster }, 500);
    };
    const during = fleet.run(40, () => ({ requests: 100, isHealthy: false }), panic);
    assert.deepEqual(during, ['fired HealthCheckCascade page fleet @310']);
  });

  test('one host of every small pool at once is no cascade', () => {
    const fleet = new HostFleet({ hosts: 3, clusters: clusters.slice(0, 20) }, 'HealthCheckCascade');
    fleet.run(minutes(5), () => ({ requests: 10 }));
    assert.deepEqual(
      fleet.run(minutes(5), ({ index }) => ({ requests: 10, isHealthy: index > 0 })),
      [],
    );
  });

  test('a cluster of the cascade that stays down keeps the page of the fleet, and gets none of its own', () => {
    const fleet = new HostFleet({ hosts: 4, clusters: clusters.slice(0, 30) }, 'HealthCheckCascade');
    fleet.run(minutes(5), () => ({ requests: 1 }));
    fleet.run(60, ({ cluster }) => ({ requests: 1, isHealthy: Number(cluster.slice(1)) >= 10 }));
    fleet.run(minutes(30), ({ cluster }) => ({ requests: 1, isHealthy: cluster !== 's3' }));
    assert.deepEqual(fleet.said, ['fired HealthCheckCascade page fleet @310']);
  });

  test('pools in panic before their health has fallen in the window are one page for the fleet too', () => {
    const few = clusters.slice(0, 10);
    const fleet = new HostFleet({ hosts: 5, clusters: few }, 'HealthCheckCascade');
    fleet.run(minutes(5), () => ({ requests: 10 }));
    const panic = (scene: HostFleet) => {
      for (const cluster of few) scene.count('cluster.panic.requests', { cluster }, 50);
    };
    const during = fleet.run(60, () => ({ requests: 10, isHealthy: false }), panic);
    assert.deepEqual(during, ['fired HealthCheckCascade page fleet @310']);
    assert.match(fleet.alerts[0]?.summary ?? '', /^Hosts of 10 of 10 clusters/);
    fleet.run(minutes(5), () => ({ requests: 10 }));
    assert.equal(fleet.said.length, 2, 'it ends, and nothing else was said');
  });

  describe('where not all pools panic in the same tick', () => {
    const some = clusters.slice(0, 10);
    /** Of the first clusters from the first tick on, of all from the second, third, ... */
    const said = (first: number, allFrom: number): readonly string[] => {
      const fleet = new HostFleet({ hosts: 5, clusters: some }, 'HealthCheckCascade');
      fleet.run(minutes(5), () => ({ requests: 10 }));
      const began = fleet.seconds;
      const panic = (scene: HostFleet): void => {
        const isAll = (scene.seconds - began) / 10 >= allFrom;
        for (const cluster of isAll ? some : some.slice(0, first)) {
          scene.count('cluster.panic.requests', { cluster }, 50);
        }
      };
      return fired(fleet.run(40, () => ({ requests: 10 }), panic));
    };
    const of = (place: string, second: number): string => `fired HealthCheckCascade page ${place} @${second}`;

    test('two of them wait a push for the others: one page', () => {
      assert.deepEqual(said(2, 2), [of('fleet', 320)]);
    });

    test('two that stay alone page a push later, each for itself', () => {
      assert.deepEqual(said(2, 99), [of('s0', 320), of('s1', 320)]);
    });

    test('one that falls alone pages at once', () => {
      assert.deepEqual(said(1, 99), [of('s0', 310)]);
    });
  });

  test('one cluster below half pages for itself; half of it, or a rolling deploy, does not', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'HealthCheckCascade', 'HealthCheckFlapping');
    const up =
      (count: number) =>
      ({ index }: { index: number }) => ({ requests: 100, isHealthy: index < count });
    assert.deepEqual(fleet.run(minutes(5), up(5)), []);
    const rolling = ({ index, at }: { index: number; at: number }) => ({
      requests: 100,
      isHealthy: Math.floor(at / 40) % 10 !== index,
    });
    assert.deepEqual(fleet.run(minutes(20), rolling), []);
    assert.deepEqual(fired(fleet.run(60, up(4))), [`fired HealthCheckCascade page checkout @1530`]);
    assert.equal(fleet.run(60, up(10)).length, 1);
  });

  test('pools of two hosts are not judged alone', () => {
    const fleet = new HostFleet({ hosts: 2 }, 'HealthCheckCascade');
    assert.deepEqual(
      fleet.run(120, () => ({ requests: 10, isHealthy: false })),
      [],
    );
  });

  test('requests in panic page though hosts are counted healthy', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'HealthCheckCascade');
    const panic = (count: number) => (scene: HostFleet) =>
      scene.count('cluster.panic.requests', { cluster: 'checkout' }, count);
    assert.deepEqual(fleet.run(120, well, panic(10)), [], '1 % of the requests');
    assert.deepEqual(fired(fleet.run(60, well, panic(600))), ['fired HealthCheckCascade page checkout @130']);
  });
});

describe('HealthCheckFlapping', () => {
  const changes = (host: string, balancer: string) => ({ cluster: 'checkout', host, balancer });

  test('a seventh change within the hour fires, as one balancer sees it', () => {
    const fleet = new HostFleet({ hosts: 10, balancers: ['edge-1', 'edge-2'] }, 'HealthCheckFlapping');
    const flap = (scene: HostFleet) => {
      for (const balancer of ['edge-1', 'edge-2']) {
        if (scene.seconds % 300 === 0) scene.count('host.health.changes', changes(BAD, balancer), 1);
      }
    };
    assert.deepEqual(fleet.run(2099, well, flap), [`fired HealthCheckFlapping ticket ${BAD} @2100`]);
    assert.deepEqual(fleet.run(HOUR / 1000, well), [`resolved HealthCheckFlapping ticket ${BAD} @4800`]);
  });

  test('three deploys of a fixed set of hosts within an hour are silent', () => {
    const fleet = new HostFleet({ hosts: 10, balancers: ['edge-1', 'edge-2'] }, 'HealthCheckFlapping');
    const deploys = (scene: HostFleet) => {
      if (scene.seconds % 1200 !== 0) return;
      for (const balancer of ['edge-1', 'edge-2']) scene.count('host.health.changes', changes(BAD, balancer), 2);
    };
    assert.deepEqual(fleet.run(HOUR / 1000, well, deploys), []);
  });
});

describe('ZoneSkew', () => {
  const zoneOf = (index: number): string => (index < 12 ? 'a' : index < 32 ? 'b' : 'c');
  const perHost = (index: number, zoneLoad: number): number => zoneLoad / (index < 12 ? 12 : 20);
  const byPlacement = ({ index }: { index: number }) => ({ requests: perHost(index, 240) });

  test('12, 20 and 20 hosts under equal traffic of each zone: told after six hours', () => {
    const fleet = new HostFleet({ hosts: 52, zoneOf }, 'ZoneSkew');
    const said = fleet.run((7 * HOUR) / 1000, byPlacement);
    assert.deepEqual(said.length, 1);
    assert.match(said[0] ?? '', /^fired ZoneSkew ticket a @/);
    const at = Number(said[0]?.split('@')[1]) / 3600;
    assert.ok(at > 5.4 && at <= 6, `after ${at} h`);
    assert.match(fleet.alerts[0]?.summary ?? '', /Zone a of cluster checkout carries 1\.4 times its share/);
    assert.match(fleet.run((5 * HOUR) / 1000, () => ({ requests: 14 }))[0] ?? '', /^resolved ZoneSkew ticket a/);
  });

  test('by utilization of 75, 35 and 35 %, though every zone gets its share of the requests', () => {
    const fleet = new HostFleet({ hosts: 52, zoneOf }, 'ZoneSkew');
    const use = (scene: HostFleet) => {
      for (const [zone, hosts, value] of [
        ['a', 12, 750],
        ['b', 20, 350],
        ['c', 20, 350],
      ] as const) {
        scene.count('zone.utilization', { cluster: 'checkout', zone }, hosts * value);
        scene.count('zone.utilization.readings', { cluster: 'checkout', zone }, hosts);
      }
    };
    fleet.run((6.1 * HOUR) / 1000, () => ({ requests: 10 }), use);
    assert.match(
      fleet.alerts[0]?.summary ?? '',
      /1\.7 times its share for 6 h: its hosts are used 75 %, all hosts 44 %/,
    );
  });

  test('larger hosts that carry more are even by their capacity', () => {
    const fleet = new HostFleet({ hosts: 52, zoneOf }, 'ZoneSkew');
    const capacity = (scene: HostFleet) => {
      if (scene.seconds % 60 !== 0) return;
      for (let index = 0; index < 52; index += 1) {
        const labels = { cluster: 'checkout', host: scene.hostName(index), zone: zoneOf(index) };
        scene.gauge('host.capacity', labels, index < 12 ? 5 : 3);
      }
    };
    assert.deepEqual(fleet.run((7 * HOUR) / 1000, byPlacement, capacity), []);
  });

  test('even traffic, an hour of failover, and ten requests an hour are silent', () => {
    const fleet = new HostFleet({ hosts: 52, zoneOf }, 'ZoneSkew');
    const failover = ({ index, at }: { index: number; at: number }) => {
      const isOver = at > 3600 && at < 2 * 3600;
      return { requests: !isOver ? 14 : zoneOf(index) === 'c' ? 0 : zoneOf(index) === 'a' ? 37 : 14 };
    };
    assert.deepEqual(fleet.run((7 * HOUR) / 1000, failover), []);
    const night = new HostFleet({ hosts: 5, zoneOf: (index) => (index < 3 ? 'a' : 'b') }, 'ZoneSkew');
    assert.deepEqual(
      night.run((7 * HOUR) / 1000, () => ({ requests: 10 / 360 / 5 })),
      [],
    );
  });
});

describe('quiet controls', () => {
  test('a doubled but healthy load, and a rolling deploy with its few errors, say nothing', () => {
    const fleet = new HostFleet({ hosts: 20, zoneOf: (index) => 'abc'.charAt(index % 3) });
    fleet.run(minutes(40), well);
    const doubled = fleet.run(minutes(15), () => ({ requests: 200, errors: 0.001, time: 0.05 }));
    const deploy = fleet.run(minutes(20), ({ index, at }) => {
      const isRestarting = Math.floor(at / 60) % 20 === index && at % 60 < 30;
      return isRestarting ? { requests: 2, errors: 0.5, time: 0.04, isHealthy: false } : well();
    });
    assert.deepEqual([...doubled, ...deploy], []);
  });

  test('a night of ten requests an hour, one of them failing, says nothing', () => {
    const fleet = new HostFleet({ hosts: 5 });
    const said = fleet.run((8 * HOUR) / 1000, ({ index }) => ({
      requests: 10 / 360 / 5,
      errors: index === 2 ? 0.3 : 0.02,
      time: 0.04,
    }));
    assert.deepEqual(said, []);
  });
});
