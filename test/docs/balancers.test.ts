import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseDocument } from 'yaml';
import { DEFAULT_LISTEN } from '../../src/config/resolve-service.ts';
import type { PointKind } from '../../src/series/binding.ts';
import { translate } from '../../src/series/profiles/registry.ts';
import { seriesOf } from '../series/describe.ts';
import { blockOf, blocksOf, configOf } from '../support/setup-page.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'docs', 'balancers');
const PAGES = readdirSync(FOLDER)
  .filter((file) => file !== 'README.md')
  .map((file) => file.slice(0, -'.md'.length));
const textOf = (page: string): string => readFileSync(join(FOLDER, `${page}.md`), 'utf8');

const HTTP = String(DEFAULT_LISTEN.otlpHttp.port);
const GRPC = String(DEFAULT_LISTEN.otlpGrpc.port);

/** What a reader copies, without the comments around it. */
const collectorConfigs = (page: string) =>
  blocksOf(page)
    .filter(({ purpose }) => purpose === 'collector')
    .map(({ text }) => parse(text) as CollectorConfig);

interface CollectorConfig {
  readonly receivers: {
    readonly prometheus: { readonly config: { readonly scrape_configs: readonly ScrapeConfig[] } };
  };
  readonly exporters: { readonly otlphttp: { readonly endpoint: string } };
  readonly service: {
    readonly pipelines: { readonly metrics: { readonly receivers: string[]; readonly exporters: string[] } };
  };
}
interface ScrapeConfig {
  readonly metric_relabel_configs?: readonly { readonly regex: string }[];
}

describe('every setup page', () => {
  test('there is one for each balancer of the index, and the index leads to it', () => {
    const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    assert.deepEqual(PAGES.sort(), ['caddy', 'collector', 'envoy', 'haproxy', 'istio', 'nginx', 'traefik']);
    for (const page of PAGES) assert.ok(index.includes(`(${page}.md)`), page);
  });
  for (const page of PAGES) {
    test(`${page} has a configuration, says what is missing and how to see that it works`, () => {
      const blocks = blocksOf(page);
      assert.ok(blocks.some(({ purpose }) => purpose !== ''));
      assert.match(textOf(page), /^## (What \w+ cannot say|What changes on the way)$/m);
      assert.match(textOf(page), /^## See that it works$/m);
      assert.ok(blocks.some(({ text }) => text.includes('http://127.0.0.1:8080/api/v1/fleet')));
      for (const { language, text } of blocks) {
        if (language === 'yaml') assert.deepEqual(parseDocument(text).errors, []);
      }
    });
  }
});

describe('configurations push to the ports that slowburn listens on', () => {
  for (const page of PAGES) {
    for (const [index, { receivers, exporters, service }] of collectorConfigs(page).entries()) {
      test(`the Collector of ${page}, ${index + 1}`, () => {
        assert.equal(new URL(exporters.otlphttp.endpoint).port, HTTP);
        const { metrics } = service.pipelines;
        assert.deepEqual(metrics.receivers, Object.keys(receivers));
        assert.deepEqual(metrics.exporters, Object.keys(exporters));
      });
    }
  }
  test('Envoy, Traefik, NGINX Agent and Caddy', () => {
    const { clusters } = configOf<EnvoyPage>('envoy', 'envoy').static_resources;
    const [endpoint] = clusters.find(({ name }) => name === 'slo_ingest')?.load_assignment.endpoints ?? [];
    assert.equal(String(endpoint?.lb_endpoints[0]?.endpoint.address.socket_address.port_value), GRPC);
    const traefik = configOf<TraefikPage>('traefik', 'traefik').metrics.otlp.http.endpoint;
    assert.equal(traefik, `http://127.0.0.1:${HTTP}/v1/metrics`);
    const { collector } = configOf<AgentPage>('nginx', 'nginx-agent');
    assert.equal(String(collector.exporters.otlp.default.server.port), GRPC);
    assert.match(
      blockOf('caddy', 'caddy-environment'),
      new RegExp(`^OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${HTTP}$`, 'm'),
    );
  });
});

interface EnvoyPage {
  readonly stats_config: { readonly histogram_bucket_settings: readonly { readonly buckets: readonly number[] }[] };
  readonly static_resources: {
    readonly clusters: readonly {
      readonly name: string;
      readonly load_assignment: {
        readonly endpoints: readonly {
          readonly lb_endpoints: readonly {
            readonly endpoint: { readonly address: { readonly socket_address: { readonly port_value: number } } };
          }[];
        }[];
      };
    }[];
  };
}
interface TraefikPage {
  readonly metrics: {
    readonly otlp: { readonly explicitBoundaries: readonly number[]; readonly http: { readonly endpoint: string } };
  };
}
interface AgentPage {
  readonly collector: {
    readonly exporters: { readonly otlp: { readonly default: { readonly server: { readonly port: number } } } };
  };
}

test('the thresholds of shipped latency SLOs are bounds of the pages', () => {
  const shipped = readFileSync(join(ROOT, 'rules', 'slos', 'upstream-latency.yaml'), 'utf8');
  const threshold = Number(/threshold: ([\d.]+)/.exec(shipped)?.[1]);
  const [durations] = configOf<EnvoyPage>('envoy', 'envoy').stats_config.histogram_bucket_settings;
  assert.ok(durations?.buckets.includes(threshold * 1000));
  assert.ok(configOf<TraefikPage>('traefik', 'traefik').metrics.otlp.explicitBoundaries.includes(threshold));
  assert.ok(/--time-buckets=([\d.,]+)/.exec(textOf('nginx'))?.[1]?.split(',').includes(String(threshold)));
  assert.ok(
    /\{"istiocustom":\[([\d,]+)\]\}/
      .exec(textOf('istio'))?.[1]
      ?.split(',')
      .includes(String(threshold * 1000)),
  );
});

/** Attributes that a metric of a page needs to tell what it is, where one has several meanings. */
const TELLING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  envoy: { 'envoy.response_code_class': '5', 'envoy.cluster_name': 'checkout' },
  traefik: { code: '503', service: 'checkout@file' },
  haproxy: { proxy: 'checkout', code: '5xx', state: 'UP' },
  istio: { reporter: 'source', destination_service: 'a.b.svc' },
  caddy: { handler: 'subroute', server: 'srv0', code: '503' },
  nginx: {
    'nginx.zone.type': 'SERVER',
    'nginx.peer.state': 'UP',
    'nginx.connections.outcome': 'ACCEPTED',
    state: 'user',
  },
};
const SCOPES: Readonly<Record<string, string>> = { traefik: 'github.com/traefik/traefik' };
const KINDS: readonly PointKind[] = ['sum', 'gauge', 'histogram'];
const METRIC = /^(haproxy|traefik|istio|nginx|caddy)_\w+$|^(cluster|listener|http|nginx|system)\.[\w.]+$/;

/** Metrics named in the tables of a page. */
const metricsOf = (page: string): readonly string[] => [
  ...new Set(
    textOf(page)
      .replace(/```[\s\S]*?```/g, '')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
      .filter((code) => METRIC.test(code)),
  ),
];

describe('metrics that a page names as taken are taken', () => {
  for (const [page, attributes] of Object.entries(TELLING)) {
    test(page, () => {
      const names = metricsOf(page);
      assert.ok(names.length >= 3, names.join(', '));
      const isTaken = (name: string): boolean =>
        KINDS.some(
          (kind) => translate(seriesOf(name, attributes, { kind, scope: SCOPES[page] ?? '' })).series.length > 0,
        );
      assert.deepEqual(
        names.filter((name) => !isTaken(name)),
        [],
      );
    });
  }
  test('and what the Collector lets through is what the page names', () => {
    for (const page of ['istio', 'nginx']) {
      const [config] = collectorConfigs(page);
      const [scrape] = config?.receivers.prometheus.config.scrape_configs ?? [];
      const kept = new RegExp(`^(?:${scrape?.metric_relabel_configs?.[0]?.regex})$`);
      const scraped = metricsOf(page).filter((name) => /^(istio|nginx)_/.test(name));
      assert.ok(scraped.length >= 3);
      for (const name of scraped) {
        for (const series of /duration/.test(name) ? [`${name}_bucket`, `${name}_count`] : [name]) {
          assert.match(series, kept);
        }
      }
    }
  });
});

describe('what a page says is left out is left out', () => {
  const isLeftOut = (name: string, attributes: Readonly<Record<string, string>>): boolean => {
    const { understood, series } = translate(seriesOf(name, attributes));
    return understood && series.length === 0;
  };
  /** The code words of the line that holds `words`. */
  const codesAt = (page: string, words: string): readonly string[] => {
    const line =
      textOf(page)
        .replace(/\n(?! *[-|#\n])/g, ' ')
        .split('\n')
        .find((one) => one.includes(words)) ?? '';
    return [...line.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
  };
  test('connection managers of Envoy', () => {
    const prefixes = codesAt('envoy', 'serve no clients').filter((code) => code !== 'stat_prefix');
    assert.ok(prefixes.length >= 6);
    for (const prefix of prefixes) {
      const attributes = { 'envoy.http_conn_manager_prefix': prefix, 'envoy.response_code_class': '2' };
      assert.ok(isLeftOut('http.downstream_rq_xx', attributes), prefix);
    }
    assert.ok(
      isLeftOut('cluster.upstream_rq_xx', { 'envoy.cluster_name': 'slo_ingest', 'envoy.response_code_class': '2' }),
    );
  });
  test('frontends of HAProxy', () => {
    const names = codesAt('haproxy', 'Its name keeps it out').filter((code) => code !== 'check');
    assert.ok(names.length >= 6, names.join(', '));
    for (const proxy of names) {
      assert.ok(isLeftOut('haproxy_frontend_http_responses_total', { proxy, code: '2xx' }), proxy);
    }
  });
});
