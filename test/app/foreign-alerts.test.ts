import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labelsToObject } from '../../src/model/labels.ts';
import { balancerAt, ForeignScene, sent } from '../support/foreign.ts';

const A = { alertname: 'DiskFull', cluster: 'checkout', severity: 'critical' };
/** What Prometheus sends for a rule of a minute: valid for four. */
const firingAt = (second: number, labels: Readonly<Record<string, string>> = A, startsAt = 0) =>
  sent(labels, { startsAt, endsAt: second + 240 });
const resolvedAt = (second: number, labels: Readonly<Record<string, string>> = A, startsAt = 0) =>
  sent(labels, { startsAt, endsAt: second });

describe('what is taken', () => {
  test('one bad alert does not fail the others, and is named', () => {
    const scene = new ForeignScene();
    const received = scene.receive(5, [
      firingAt(5),
      { labels: 'x' },
      { labels: { a: 1 } },
      'text',
      null,
      { labels: { alertname: '' } },
      { labels: { alertname: 'X' }, startsAt: 'soon' },
      sent({ alertname: 'X' }, { startsAt: 20, endsAt: 10 }),
      { labels: { alertname: 'B' } },
    ]);
    assert.deepEqual([received.accepted, received.bad, received.overLimit], [2, 7, 0]);
    assert.deepEqual(
      received.refused.map(({ index, reason }) => `${index} ${reason}`),
      [
        '1 "labels" is not a JSON object',
        '2 label "a" is not a text',
        '3 an alert is a JSON object',
        '4 an alert is a JSON object',
        '5 an alert needs at least one label with a value',
        '6 "startsAt" is not an RFC 3339 time',
        '7 "endsAt" lies before "startsAt"',
      ],
    );
    scene.to(20);
    assert.deepEqual(scene.told, ['10 fired DiskFull', '10 fired B']);
  });

  test('labels, place, owner, runbook, link and summary are read; bad links are not kept', () => {
    const scene = new ForeignScene({
      subjects: new Map([
        ['cluster', ['cluster', 'job']],
        ['host', ['instance']],
      ]),
    });
    const labels = {
      alertname: 'X',
      job: 'api',
      instance: 'h1',
      team: 'network',
      replica: 'a',
      empty: '',
      value: '3.5',
    };
    scene.receive(0, [
      sent(labels, {
        annotations: { summary: ' It is full. ', runbook_url: 'https://runbooks.example/x#y' },
        generatorURL: 'http://prometheus.example:9090/graph?g0.expr=up%3D%3D0',
      }),
      sent(
        { alertname: 'Y', owner: 'nobody', team: 'edge', severity: 'Page' },
        { annotations: { description: 'Words.', runbook_url: '/runbooks/y' }, generatorURL: 'javascript:alert(1)' },
      ),
    ]);
    scene.to(20);
    const [x, y] = scene.firing;
    assert.deepEqual(labelsToObject(x?.labels ?? new Map()), {
      __proto__: null,
      alertname: 'X',
      instance: 'h1',
      job: 'api',
      team: 'network',
      value: '3.5',
    });
    assert.deepEqual(x?.place, { cluster: 'api', host: 'h1' });
    assert.equal(x?.key, 'foreign/X{"instance"="h1","job"="api","team"="network"}');
    assert.deepEqual([x?.owner, x?.severity, x?.summary], ['network', 'ticket', 'It is full.']);
    assert.equal(x?.runbook, 'https://runbooks.example/x#y');
    assert.equal(x?.foreign?.link, 'http://prometheus.example:9090/graph?g0.expr=up%3D%3D0');
    assert.deepEqual([y?.owner, y?.severity, y?.summary, y?.runbook], ['edge', 'page', 'Words.', 'Y']);
    assert.equal(y?.foreign?.link, null);
  });

  test('beyond the limit of alerts held the rest is refused; ended ones make room, oldest first', () => {
    const scene = new ForeignScene({}, 3);
    const named = (name: string) => ({ alertname: name });
    const first = scene.receive(
      0,
      ['a', 'b', 'c', 'd'].map((name) => firingAt(0, named(name))),
    );
    assert.deepEqual([first.accepted, first.overLimit], [3, 1]);
    assert.deepEqual(first.refused, [{ index: 3, reason: 'no room: too many alerts are held already' }]);
    assert.deepEqual(scene.receive(60, [firingAt(60, named('a'))]).accepted, 1);
    scene.receive(70, [resolvedAt(70, named('b'))]);
    scene.to(90);
    assert.deepEqual([scene.receive(90, [firingAt(90, named('d'))]).accepted, scene.foreign.held()], [1, 3]);
    assert.equal(scene.store.load().length, 3);
  });

  test('what ended is forgotten after a while', () => {
    const scene = new ForeignScene();
    scene.receive(0, [firingAt(0)]);
    scene.receive(60, [resolvedAt(60)]);
    scene.to(60 + 1800 + 240);
    assert.equal(scene.foreign.held(), 1);
    scene.to(60 + 1800 + 300);
    assert.deepEqual([scene.foreign.held(), scene.store.load().length], [0, 0]);
  });

  test('a label that carries a measured value is told once, and never one that is ignored', () => {
    const scene = new ForeignScene();
    for (let reading = 0; reading < 40; reading += 1) {
      const labels = { alertname: 'Hot', host: 'h1', degrees: `${40 + reading / 10}`, value: `${reading}` };
      scene.receive(reading, [sent(labels), sent({ alertname: 'Named', host: `h${reading}`, value: `${reading}` })]);
    }
    assert.equal(scene.warnings.length, 1);
    assert.match(scene.warnings[0] ?? '', /alerts named Hot differ only in the number of label degrees/);
  });

  test('readings of an ignored label are one alert', () => {
    const scene = new ForeignScene();
    for (let second = 0; second < 100; second += 20) scene.receive(second, [sent({ ...A, value: `${second}` })]);
    scene.to(120);
    assert.deepEqual(scene.told, ['0 fired DiskFull']);
    assert.equal(scene.firing[0]?.labels.get('value'), '80');
  });
});

describe('starts and ends', () => {
  test('a stray resolve opens nothing', () => {
    const scene = new ForeignScene();
    assert.deepEqual(scene.receive(100, [resolvedAt(90)]).ignored, 1);
    scene.to(200);
    assert.deepEqual([scene.told, scene.foreign.held()], [[], 0]);
  });

  test('it ends when its end passes and nobody has told anything since', () => {
    const scene = new ForeignScene();
    for (const second of [0, 60, 120]) scene.receive(second, [firingAt(second)]);
    scene.to(600);
    assert.deepEqual(scene.told, ['0 fired DiskFull', '360 resolved DiskFull']);
  });

  test('without an end it lasts five minutes from the last news', () => {
    const scene = new ForeignScene();
    for (const second of [0, 60]) scene.receive(second, [sent(A)]);
    scene.to(600);
    assert.deepEqual(scene.told, ['0 fired DiskFull', '360 resolved DiskFull']);
  });

  test('a sender that names one end for an episode and goes on sending it keeps it firing', () => {
    const scene = new ForeignScene();
    for (let second = 0; second <= 600; second += 60) scene.receive(second, [sent(A, { startsAt: 0, endsAt: 240 })]);
    scene.receive(660, [resolvedAt(660)]);
    scene.to(900);
    assert.deepEqual(scene.told.filter((line) => !line.endsWith('fired DiskFull')).at(-1), '660 resolved DiskFull');
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('the earliest start counts, the newest words, the latest end', () => {
    const scene = new ForeignScene();
    scene.receive(60, [sent(A, { startsAt: 60, endsAt: 300, annotations: { summary: 'first' } })]);
    scene.receive(65, [sent(A, { startsAt: 45, endsAt: 305, annotations: { summary: 'second' } })]);
    scene.to(80);
    const [alert] = scene.firing;
    assert.deepEqual([alert?.since, alert?.summary], [1_800_000_045_000, 'second']);
  });

  test('a new start after an end is a new episode, also within one tick', () => {
    const scene = new ForeignScene();
    scene.receive(0, [firingAt(0)]);
    scene.to(30);
    scene.receive(31, [resolvedAt(31)]);
    scene.receive(33, [firingAt(33, A, 33)]);
    scene.to(60);
    assert.deepEqual(scene.told, ['0 fired DiskFull', '40 resolved DiskFull', '40 fired DiskFull']);
    assert.equal(scene.stored.size, 1);
    assert.deepEqual(scene.said, ['1/1 opened']);
  });

  test('rules of one name with two severities are one alert at the higher; the end of one is not the end of both', () => {
    const scene = new ForeignScene();
    const warning = { ...A, severity: 'warning' };
    scene.receive(0, [firingAt(0, warning)]);
    for (const second of [60, 120]) scene.receive(second, [firingAt(second, warning), firingAt(second, A, 60)]);
    scene.receive(180, [firingAt(180, warning), resolvedAt(180, A, 60)]);
    scene.receive(240, [resolvedAt(240, warning)]);
    scene.to(400);
    assert.deepEqual(scene.told, [
      '0 fired DiskFull',
      '60 changed DiskFull',
      '180 changed DiskFull',
      '240 resolved DiskFull',
    ]);
  });
});

describe('a webhook of Alertmanager', () => {
  const none = '0001-01-01T00:00:00Z';
  const hook = (status: 'firing' | 'resolved', endsAt?: number, startsAt = 0, labels = A) => ({
    fingerprint: '0123456789abcdef',
    ...sent(labels, { status, startsAt, ...(endsAt === undefined ? {} : { endsAt }) }),
    ...(endsAt === undefined ? { endsAt: none } : {}),
  });

  test('holds an alert over hours without news, until it is told to be over', () => {
    const scene = new ForeignScene();
    scene.receive(30, [hook('firing')], 'webhook');
    scene.receive(4 * 3600, [hook('firing')], 'webhook');
    scene.receive(9 * 3600, [hook('resolved', 9 * 3600 - 300)], 'webhook');
    scene.to(10 * 3600);
    assert.deepEqual(scene.told, ['30 fired DiskFull', '32400 resolved DiskFull']);
  });

  test('is one with what comes directly, and its late firing does not bring back what a sender resolved', () => {
    const scene = new ForeignScene();
    scene.receive(0, [firingAt(0)]);
    scene.receive(30, [hook('firing')], 'webhook');
    scene.receive(60, [firingAt(60)]);
    scene.receive(120, [resolvedAt(120)]);
    assert.equal(scene.receive(125, [hook('firing')], 'webhook').ignored, 1);
    scene.receive(330, [hook('resolved', 120)], 'webhook');
    scene.to(900);
    assert.deepEqual(scene.told, ['0 fired DiskFull', '120 resolved DiskFull']);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
  });

  test('brings back what it ended itself', () => {
    const scene = new ForeignScene();
    scene.receive(0, [hook('firing')], 'webhook');
    scene.receive(100, [hook('resolved', 90)], 'webhook');
    scene.receive(200, [hook('firing')], 'webhook');
    scene.to(300);
    assert.deepEqual(scene.told, ['0 fired DiskFull', '100 resolved DiskFull', '200 fired DiskFull']);
  });
});

describe('no data is not recovery', () => {
  const onE1 = { alertname: 'Err5xx', balancer: 'e1', severity: 'page' };
  const settings = {
    subjects: new Map([
      ['balancer', ['balancer']],
      ['cluster', ['cluster']],
    ]),
  };
  const scenario = (): ForeignScene => {
    const scene = new ForeignScene(settings);
    scene.balancers = [balancerAt('e1', 0, false)];
    return scene;
  };

  test('an end told while its subject is silent does not count until a fresh evaluation says so', () => {
    const scene = scenario();
    scene.receive(0, [firingAt(0, onE1)]);
    scene.balancers = [balancerAt('e1', 55, false)];
    scene.receive(60, [resolvedAt(60, onE1)]);
    scene.to(120);
    scene.balancers = [balancerAt('e1', 55, true)];
    scene.to(900);
    assert.deepEqual(scene.told, ['0 fired Err5xx']);
    assert.match(scene.firing[0]?.evidence[0]?.text ?? '', /^no data: balancer e1 has sent no telemetry since /);
    assert.ok(scene.changes.some(({ change, reason }) => change === 'note' && reason.startsWith('Err5xx: no data')));
    scene.balancers = [balancerAt('e1', 905, false)];
    scene.receive(915, [firingAt(915, onE1, 910)]);
    scene.to(1000);
    assert.deepEqual([scene.told, scene.firing[0]?.evidence], [['0 fired Err5xx'], []]);
    scene.balancers = [balancerAt('e1', 1105, false)];
    scene.receive(1100, [resolvedAt(1100, onE1)]);
    scene.to(1600);
    assert.deepEqual(scene.told, ['0 fired Err5xx', '1100 resolved Err5xx']);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
  });

  test('with data again and no evaluation, the end counts once the sender had time for one', () => {
    const scene = scenario();
    scene.receive(0, [firingAt(0, onE1)]);
    scene.balancers = [balancerAt('e1', 5, true)];
    scene.to(1000);
    assert.deepEqual(scene.told, ['0 fired Err5xx']);
    scene.balancers = [balancerAt('e1', 1000, false)];
    scene.to(1290);
    assert.deepEqual(scene.told, ['0 fired Err5xx']);
    scene.to(1400);
    assert.deepEqual(scene.told, ['0 fired Err5xx', '1300 resolved Err5xx']);
  });

  test('a copy of an end that was evaluated in the dark proves nothing', () => {
    const scene = scenario();
    scene.receive(0, [firingAt(0, onE1)]);
    scene.balancers = [balancerAt('e1', 5, true)];
    scene.receive(100, [resolvedAt(100, onE1)]);
    scene.to(200);
    scene.balancers = [balancerAt('e1', 200, false)];
    scene.receive(215, [resolvedAt(100, onE1)]);
    scene.to(400);
    assert.deepEqual(scene.told, ['0 fired Err5xx']);
    scene.receive(405, [resolvedAt(402, onE1)]);
    scene.to(420);
    assert.deepEqual(scene.told, ['0 fired Err5xx', '410 resolved Err5xx']);
  });

  test('a cluster is heard while one of its balancers is; a place that no balancer tells of has only the sender', () => {
    const scene = scenario();
    const cluster = (name: string) => ({ alertname: 'Slow', cluster: name });
    scene.balancers = [
      balancerAt('e1', 0, true, { clusters: ['a'] }),
      balancerAt('e2', 100, false, { clusters: ['a', 'b'] }),
      balancerAt('e3', 0, true, { clusters: ['c'] }),
    ];
    scene.receive(
      0,
      ['a', 'c', 'unknown'].map((name) => firingAt(0, cluster(name))),
    );
    scene.receive(
      60,
      ['a', 'c', 'unknown'].map((name) => resolvedAt(60, cluster(name))),
    );
    scene.to(600);
    assert.deepEqual(
      scene.firing.map(({ place }) => place.cluster),
      ['c'],
    );
  });

  test('a subject that is given up is closed as retired', () => {
    const scene = scenario();
    scene.receive(0, [firingAt(0, onE1)]);
    scene.balancers = [balancerAt('e1', 5, true)];
    scene.to(600);
    scene.balancers = [];
    scene.to(620);
    const last = scene.alerts.at(-1);
    assert.deepEqual([last?.kind, last?.kind === 'resolved' && last.reason], ['resolved', 'retired']);
  });

  test('is held over a restart in the dark', () => {
    const scene = scenario();
    scene.receive(0, [firingAt(0, onE1)]);
    scene.balancers = [balancerAt('e1', 5, true)];
    scene.receive(60, [resolvedAt(60, onE1)]);
    scene.to(120).restart().to(900);
    assert.deepEqual(scene.told, ['0 fired Err5xx']);
  });
});

describe('a restart', () => {
  test('between the answer and the tick loses nothing', () => {
    const scene = new ForeignScene();
    scene.to(10);
    scene.receive(15, [firingAt(15)]);
    scene.restart().to(40);
    assert.deepEqual(scene.told, ['20 fired DiskFull']);
    scene.receive(75, [resolvedAt(75)]);
    scene.restart().to(400);
    assert.deepEqual(scene.told, ['20 fired DiskFull', '80 resolved DiskFull']);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
  });

  test('keeps ends, evaluations and what a pair of senders told', () => {
    const scene = new ForeignScene();
    scene.receive(0, [sent(A, { startsAt: 0, endsAt: 1200 })]);
    scene.receive(300, [resolvedAt(300)]);
    scene.to(310).restart();
    assert.equal(scene.receive(305, [sent(A, { startsAt: 0, endsAt: 1490 })]).ignored, 1);
    scene.to(1000);
    assert.equal(scene.told.length, 2);
  });
});
