import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ms, ratio } from '../../src/base/units.ts';
import type { Alert, BurnFigures, Place } from '../../src/model/alert.ts';
import { blastRadiusText } from '../../src/model/blast-radius.ts';
import type { Notification } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { messageLinks } from '../../src/notify/links.ts';
import { textOf } from '../../src/notify/text.ts';
import { toWebhookMessage } from '../../src/notify/webhook/message.ts';
import { CHECKOUT, minuteOf, Scene, type Step } from '../correlate/scene.ts';
import { type AlertFields, alertOf } from '../support/alerts.ts';

const STEP = { anchor: 'first-minutes-step-1', text: 'Which hosts, how often, why' };

/** A burn of an SLO that began 42 minutes before T0. */
function burnOf(slo: string, place: Place, fields: AlertFields = {}, figures: Partial<BurnFigures> = {}): Alert {
  const alert = alertOf('ErrorBudgetBurn', { ...place, service: 'shop' }, { severity: 'page', tier: '50h', ...fields });
  const labels = labelsOf([...alert.labels, ['slo', slo]]);
  const burn = { ...alert.burn, burningSince: minuteOf(-42), spent: ratio(0.02), ...figures } as BurnFigures;
  return { ...alert, key: `${alert.key}${slo}`, labels, burn };
}

const HOST = alertOf('HostEjections', { ...CHECKOUT, zone: 'b', host: '10.0.3.7' });
const PAGE = burnOf('checkout-availability', { ...CHECKOUT, zone: 'a' });
const LATENCY = burnOf('checkout-latency', CHECKOUT, { severity: 'ticket', tier: '10d' }, { slowerThan: ms(300) });

const last = (scene: Scene): Notification => {
  const notification = scene.notifications.at(-1);
  assert.ok(notification !== undefined);
  return notification;
};
const textAt = (scene: Scene, step: typeof STEP | null = STEP): string => textOf(last(scene), { step });

describe('the text of a page', () => {
  test('says tier, time left with band, cost since when, the lead and its evidence, how far, the first step', () => {
    const scene = new Scene().at(0, ['fired', PAGE], ['fired', HOST], ['fired', LATENCY]);
    assert.equal(
      textAt(scene),
      'PAGE checkout-availability in checkout, zone a: budget gone in 31 h (27 to 36 h), tier 50h. ' +
        'Errors 2.1 % for 42 min, 2.0 % of the month spent. HostEjections happens. 20 of 1000 requests failed. ' +
        'Touches cluster checkout, zones a and b, host 10.0.3.7, 2 SLO groups. ' +
        'First step: which hosts, how often, why (runbook HostEjections, step 1). Incident 1, 3 alerts.',
    );
  });

  test('without a step or a cause: the runbook, and how it burns', () => {
    assert.equal(
      textAt(new Scene().at(0, ['fired', PAGE]), null),
      'PAGE checkout-availability in checkout, zone a: budget gone in 31 h (27 to 36 h), tier 50h. ' +
        'Errors 2.1 % for 42 min, 2.0 % of the month spent. 20 of 1000 requests failed. ' +
        'Touches cluster checkout, zone a, 1 SLO group. ' +
        'First step: open runbook ErrorBudgetBurn. Incident 1, 1 alert.',
    );
  });

  const impacts: readonly [name: string, figures: Partial<BurnFigures>, says: RegExp][] = [
    ['another window by its name', { window: '7d' }, /Errors 2\.1 % for 42 min, 2\.0 % of the 7d budget spent\./],
    ['latency as slowness', { slowerThan: ms(300) }, /\. 2\.1 % slower than 300 ms for 42 min, /],
    [
      'slices as bad slices',
      { slices: { width: ms(60_000), byRatio: false } },
      /\. 2\.1 % of slices of 1m bad for 42 min, /,
    ],
    [
      'slices by ratio as a mean',
      { slices: { width: ms(60_000), byRatio: true } },
      /Errors 2\.1 % \(mean of slices of 1m\) for 42 min, /,
    ],
    ['a slow bound in seconds', { slowerThan: ms(1500) }, /2\.1 % slower than 1\.5 s for 42 min, /],
    ['nothing spent as nothing said', { spent: ratio(0) }, /Errors 2\.1 % for 42 min\. /],
    ['what is not known as unknown', { errorRatio: null, spent: null }, /\. Nothing measured for 42 min\. /],
    ['a start just now', { burningSince: minuteOf(0) }, /Errors 2\.1 % from now on, /],
  ];
  for (const [name, figures, says] of impacts) {
    test(`says ${name}`, () => {
      assert.match(textAt(new Scene().at(0, ['fired', burnOf('s', CHECKOUT, {}, figures)])), says);
    });
  }

  test('says figures of an alert that an earlier version stored as far as they are known', () => {
    const { burningSince: _, spent: __, window: ___, slowerThan: ____, ...burn } = PAGE.burn as BurnFigures;
    const scene = new Scene().at(0, ['fired', { ...PAGE, burn: burn as BurnFigures }]);
    assert.match(textAt(scene), /Errors 2\.1 % from now on\. /);
    const body = JSON.parse(
      toWebhookMessage(last(scene), { links: messageLinks(last(scene).incident, null, ''), step: null }, 'x'),
    );
    assert.deepEqual([body.budgetSpent.share, body.budgetSpent.window], [null, null]);
  });

  test('an alert without a budget says since when it fires', () => {
    const stopped = alertOf('TrafficStopped', CHECKOUT, { severity: 'page', since: -5 });
    assert.match(
      textAt(new Scene().at(0, ['fired', stopped])),
      /^PAGE TrafficStopped in checkout\. TrafficStopped happens\. For 5 min\. .*Touches cluster checkout\. First/,
    );
  });

  test('a second page says why it comes', () => {
    const scene = new Scene().at(0, ['fired', PAGE]);
    scene.at(20, ['fired', burnOf('checkout-availability', { ...CHECKOUT, zone: 'c' }, { since: 20 })]);
    assert.match(
      textAt(scene),
      /, tier 50h\. Why now: it reached zone c\. .*Touches cluster checkout, zones a and c, 2 /,
    );
  });

  test('of a storm says what it is and in how many clusters, then whose budget; not the place of one alert', () => {
    const clusters = Array.from({ length: 40 }, (_, index) => `c${index}`);
    const scene = new Scene().at(
      0,
      ...clusters.map((cluster): Step => ['fired', alertOf('HostEjections', { cluster, host: `${cluster}-h1` })]),
    );
    assert.match(textAt(scene), /^TICKET HostEjections in 40 of 40 clusters\. /);
    scene.at(1, ['fired', burnOf('shop', { cluster: 'c3' }, { since: 1 })]);
    assert.match(
      textAt(scene),
      /^PAGE HostEjections in 40 of 40 clusters; shop in c3: budget gone in 31 h \(27 to 36 h\), tier 50h\. /,
    );
    assert.equal(scene.notifications.length, 2);
  });

  test('the end says how long, at what cost and what it touched', () => {
    const scene = new Scene().at(0, ['fired', PAGE]).at(30, ['resolved', PAGE]).ticks(31, 36);
    assert.match(
      textAt(scene),
      /^RESOLVED Error budget of checkout-availability burns \(cluster checkout, zone a\), after 35 min\. All alerts have resolved and stayed so\. It cost 2\.0 % of the month\. Touched cluster checkout, zone a, 1 SLO group\. Incident 1, 1 alert\.$/,
    );
  });

  test('a receiver of pages hears that it goes on as a ticket', () => {
    const scene = new Scene().at(0, ['fired', PAGE]).at(10, ['changed', { ...PAGE, severity: 'ticket' }]);
    const text = textOf({ ...last(scene), reason: 'resolved' }, { step: null });
    assert.match(text, /^RESOLVED as a page, after 10 min; it goes on as a ticket: Error budget of .* Touches cluster/);
  });
});

describe('what an incident touches', () => {
  const bodyOf = (scene: Scene) =>
    JSON.parse(
      toWebhookMessage(last(scene), { links: messageLinks(last(scene).incident, STEP, 'http://s'), step: STEP }, 'x'),
    );

  test('is listed for machines, each place once, with the cost and the first step', () => {
    const { blastRadius, budgetSpent, firstStep } = bodyOf(
      new Scene().at(0, ['fired', PAGE], ['fired', HOST], ['fired', LATENCY]),
    );
    assert.deepEqual(blastRadius, {
      services: ['shop'],
      regions: [],
      clusters: ['checkout'],
      zones: ['a', 'b'],
      hosts: ['10.0.3.7'],
      balancers: [],
      listeners: [],
      sloGroups: [
        { slo: 'checkout-availability', place: PAGE.place },
        { slo: 'checkout-latency', place: LATENCY.place },
      ],
      counts: { services: 1, regions: 0, clusters: 1, zones: 2, hosts: 1, balancers: 0, listeners: 0, sloGroups: 2 },
    });
    assert.deepEqual(budgetSpent, {
      slo: 'checkout-availability',
      share: 0.02,
      window: '30d',
      since: '2027-01-15T07:18:00.000Z',
    });
    assert.equal(firstStep, STEP.text);
  });

  test('is described field by field in docs/webhook.md', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/webhook.md'), 'utf8');
    const names = (value: unknown): string[] =>
      typeof value !== 'object' || value === null
        ? []
        : Array.isArray(value)
          ? value.flatMap(names)
          : Object.entries(value).flatMap(([name, inner]) => [
              name,
              ...(name === 'labels' || name === 'place' ? [] : names(inner)),
            ]);
    const missing = names(bodyOf(new Scene().at(0, ['fired', PAGE], ['fired', HOST]))).filter(
      (name) => !text.includes(`\`${name}\``),
    );
    assert.deepEqual([...new Set(missing)], []);
  });

  test('leaves out what is over, and is cut at 50 without losing count', () => {
    const hosts = Array.from({ length: 70 }, (_, index) =>
      alertOf('HostEjections', { ...CHECKOUT, host: `h${index}` }),
    );
    const scene = new Scene().at(0, ...hosts.map((alert) => ['fired', alert] as const));
    scene.at(1, ['resolved', hosts[0] as Alert]).at(2, ['fired', PAGE]);
    const { blastRadius } = bodyOf(scene);
    assert.deepEqual([blastRadius.hosts.length, blastRadius.counts.hosts], [50, 69]);
    assert.ok(!blastRadius.hosts.includes('h0'));
  });

  test('in words: one, some, many', () => {
    const nothing = { services: [], regions: [], hosts: [], balancers: [], listeners: [], zones: [], sloGroups: [] };
    const words = (...clusters: string[]): string => blastRadiusText({ ...nothing, clusters });
    assert.equal(words(), '');
    assert.equal(words('a'), 'cluster a');
    assert.equal(words('a', 'b', 'c', 'd'), 'clusters a, b, c and d');
    assert.equal(words('a', 'b', 'c', 'd', 'e'), '5 clusters (a, b, c, ...)');
  });
});

describe('links', () => {
  const linksOf = (...alerts: readonly Alert[]) => {
    const scene = new Scene().at(0, ...alerts.map((alert) => ['fired', alert] as const));
    return messageLinks(last(scene).incident, STEP, 'http://s');
  };

  test('lead to the incident, the step, and the budgets that burn', () => {
    assert.deepEqual(linksOf(PAGE, HOST), {
      incident: 'http://s/incidents/1',
      runbook: 'http://s/runbooks/HostEjections?incident=1#first-minutes-step-1',
      dashboard: 'http://s/slos?slo=checkout-availability&cluster=checkout&zone=a',
    });
  });

  const cases: readonly [name: string, alerts: readonly Alert[], path: string][] = [
    ['several SLOs, one of them of the whole cluster', [PAGE, LATENCY], '/slos?cluster=checkout'],
    ['no budget', [HOST], '/slos?cluster=checkout&zone=b'],
    ['odd names', [burnOf('a&b', { cluster: 'c d' })], '/slos?slo=a%26b&cluster=c%20d'],
    ['a balancer', [alertOf('TelemetryLost', { balancer: 'edge-1', zone: 'a' })], '/fleet'],
    ['nowhere', [alertOf('TelemetryLost', {})], '/slos'],
  ];
  for (const [name, alerts, path] of cases) {
    test(`${name}: ${path}`, () => assert.equal(linksOf(...alerts).dashboard, `http://s${path}`));
  }

  test('with a Grafana, to the dashboard of the lead, at the time of the incident and at its place', () => {
    const grafanaOf = (...alerts: readonly Alert[]) => {
      const { incident } = last(new Scene().at(0, ...alerts.map((alert) => ['fired', alert] as const)));
      const from = `from=${incident.episodeAt - 3_600_000}&to=now`;
      return messageLinks(incident, STEP, 'http://s', 'https://g/sub').dashboard.replace(from, 'AN_HOUR_BEFORE');
    };
    assert.equal(
      grafanaOf(PAGE),
      'https://g/sub/d/slowburn-slo/slowburn-slo-detail?var-slo=checkout-availability&var-cluster=checkout&AN_HOUR_BEFORE',
    );
    assert.equal(
      grafanaOf(PAGE, HOST),
      'https://g/sub/d/slowburn-balancers/slowburn-balancer-stages-and-red?var-cluster=checkout&AN_HOUR_BEFORE',
    );
    const lost = alertOf('TelemetryLost', {});
    assert.equal(grafanaOf(lost), 'https://g/sub/d/slowburn-fleet/slowburn-fleet-slos?AN_HOUR_BEFORE');
  });

  test('a runbook elsewhere is linked as it is', () => {
    const scene = new Scene().at(0, ['fired', { ...PAGE, runbook: 'https://wiki.example/burn' }]);
    assert.equal(messageLinks(last(scene).incident, null, 'http://s').runbook, 'https://wiki.example/burn');
  });
});
