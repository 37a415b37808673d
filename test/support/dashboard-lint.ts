import { CANONICAL_METRICS } from '../../src/model/conventions.ts';
import type { DashboardFile, DashboardPanel, DashboardVariable, Target } from './dashboard-files.ts';

/** Units of Grafana that panels may have. */
const UNITS: ReadonlySet<string> = new Set([
  ...['percentunit', 'percent', 'reqps', 'cps', 'ops', 'rps', 'Bps', 'bytes', 's', 'ms', 'short', 'none'],
  ...['dtdurations', 'dateTimeAsIso', 'dateTimeFromNow'],
]);
/** AngularJS panels, which Grafana has no more. */
const ANGULAR: ReadonlySet<string> = new Set(['graph', 'singlestat', 'table-old', 'grafana-worldmap-panel']);
const DESCRIBED: ReadonlySet<string> = new Set(['stat', 'gauge', 'table', 'timeseries', 'heatmap', 'state-timeline']);
const WITH_UNIT: ReadonlySet<string> = new Set(['stat', 'gauge', 'table', 'timeseries', 'heatmap']);
const SCHEMA_VERSIONS = { min: 39, max: 42 };

/** Where a rule is left out on purpose. */
export interface Exclusion {
  readonly rule: string;
  readonly file: string;
  /** Title of a panel; left out = the whole dashboard. */
  readonly panel?: string;
  readonly reason: string;
}

export const EXCLUSIONS: readonly Exclusion[] = [
  ...['Budget gained and spent in a day', 'Churn in a day', 'Messages in a day'].map((panel) => ({
    rule: 'target-rate-interval',
    file: 'slowburn-skew.json',
    panel,
    reason: 'a day is what is shown, whatever the resolution of the graph',
  })),
];

export interface Finding {
  readonly rule: string;
  readonly file: string;
  readonly panel: string;
  readonly text: string;
}

type Report = (rule: string, panel: string, text: string) => void;
type Rule = (dashboard: DashboardFile, report: Report) => void;

/**
 * The rules of Grafana's dashboard-linter for Prometheus, and what it is known to miss: data sources written out inside
 * variables, both spellings of the variable, variables of several values without aggregation, and panels of several data
 * sources; then what Grafana's own model asks for (ids, places, thresholds, links).
 */
export function lint(dashboards: readonly DashboardFile[], exclusions = EXCLUSIONS): readonly Finding[] {
  const findings: Finding[] = [];
  const used = new Set<Exclusion>();
  for (const dashboard of dashboards) {
    const { file } = dashboard;
    const report: Report = (rule, panel, text) => {
      const excluded = exclusions.find(
        (one) => one.rule === rule && one.file === file && (one.panel === undefined || one.panel === panel),
      );
      if (excluded === undefined) findings.push({ rule, file, panel, text });
      else used.add(excluded);
    };
    for (const rule of RULES) rule(dashboard, report);
    linkRule(dashboards, dashboard, report);
  }
  for (const { rule, file, panel = '' } of exclusions.filter((one) => !used.has(one))) {
    findings.push({ rule: 'exclusion-unused', file, panel, text: rule });
  }
  return findings;
}

const shown = ({ panels }: DashboardFile): readonly DashboardPanel[] => panels.filter(({ type }) => type !== 'row');

const targetsOf = (dashboard: DashboardFile): readonly (readonly [DashboardPanel, Target])[] =>
  shown(dashboard).flatMap((panel) => (panel.targets ?? []).map((target) => [panel, target] as const));

/** `$datasource` and `${datasource}` are the same. */
function isTheVariable(datasource: unknown): boolean {
  const uid = typeof datasource === 'string' ? datasource : (datasource as { uid?: unknown } | undefined)?.uid;
  return uid === '$datasource' || uid === `\${datasource}`;
}

/** Selectors: what has a metric's name and braces, or any name of ours without. */
export function selectorsOf(expr: string): readonly { readonly metric: string; readonly matchers: string }[] {
  const found = [...expr.matchAll(/([a-zA-Z_:][\w:]*)?\{([^}]*)\}/g)];
  return found.map(([, metric = '', matchers = '']) => ({ metric, matchers }));
}

const nameRule: Rule = (dashboard, report) => {
  const { uid, title, tags, schemaVersion, id, editable, graphTooltip, timezone, refresh, links } = dashboard;
  const version = Number(schemaVersion);
  const wanted: readonly (readonly [string, boolean])[] = [
    ['uid of at most 40 plain characters', /^[a-z0-9-]{1,40}$/.test(uid)],
    ['title', title.length > 0],
    ['tags', Array.isArray(tags) && tags.includes('slowburn')],
    ['schemaVersion', version >= SCHEMA_VERSIONS.min && version <= SCHEMA_VERSIONS.max],
    ['id null', id === null],
    ['no __inputs and __requires', !('__inputs' in dashboard || '__requires' in dashboard)],
    ['graphTooltip 1', graphTooltip === 1],
    ['timezone utc', timezone === 'utc'],
    ['refresh 1m', refresh === '1m'],
    ['links by tag', JSON.stringify(links).includes('"tags":["slowburn"]')],
    ['a default time range', /^now-\d+[hd]$/.test(String((dashboard['time'] as { from?: string }).from))],
  ];
  for (const [what, holds] of wanted) if (!holds) report('model', '', what);
  if (editable !== false) report('uneditable-dashboard', '', 'editable is not false');
};

const templateRule: Rule = ({ templating }, report) => {
  const sources = templating.list.filter(({ type }) => type === 'datasource');
  const [source] = sources;
  const isRight =
    sources.length === 1 &&
    source?.name === 'datasource' &&
    source.label === 'Data Source' &&
    source.query === 'prometheus';
  if (!isRight) report('template-datasource', '', 'not exactly one variable datasource for Prometheus');
  for (const name of ['job', 'instance']) {
    const variable = templating.list.find((one) => one.name === name);
    const holds = variable?.label === name && variable.type === 'query' && variable.multi && variable.allValue === '.+';
    if (holds !== true) report(`template-${name}`, '', `variable ${name} is not a query of several values, all = .+`);
  }
  for (const variable of templating.list) variableRule(variable, report);
};

function variableRule(variable: DashboardVariable, report: Report): void {
  const { name, type, datasource, refresh, multi, allValue, query } = variable;
  if (type !== 'query') return;
  if (!isTheVariable(datasource)) report('template-datasource', '', `variable ${name} has a data source of its own`);
  if (refresh !== 2) report('template-on-time-change-reload', '', `variable ${name} is not read again`);
  if (multi !== true || allValue !== '.+') report('template-all', '', `variable ${name}: several values, all = .+`);
  if (!/^label_values\(.+, \w+\)$/.test(String((query as { query?: string }).query))) {
    report('template-label-promql', '', `variable ${name} is no label_values(selector, label)`);
  }
}

/** No data source by its uid anywhere, also not inside variables and annotations. */
const datasourceRule: Rule = (dashboard, report) => {
  for (const panel of shown(dashboard)) {
    if (!isTheVariable(panel.datasource)) report('panel-datasource', panel.title, 'not the variable');
    for (const { refId, datasource } of panel.targets ?? []) {
      if (!isTheVariable(datasource)) report('panel-datasource', panel.title, `${refId}: not the variable`);
    }
  }
  const others = [...JSON.stringify(dashboard).matchAll(/"uid":"([^"]*)"/g)].map((match) => match[1] ?? '');
  const allowed = ['$datasource', `\${datasource}`, '-- Grafana --', dashboard.uid];
  for (const uid of others.filter((one) => !allowed.includes(one))) report('datasource-written-out', '', uid);
};

const panelRule: Rule = (dashboard, report) => {
  const ids = dashboard.panels.map(({ id }) => id);
  if (new Set(ids).size !== ids.length || ids.some((id) => id < 1)) report('panel-ids', '', ids.join());
  for (const panel of shown(dashboard)) {
    const { title, type, description = '', targets = [], fieldConfig } = panel;
    if (ANGULAR.has(type)) report('panel-angular', title, type);
    if (DESCRIBED.has(type) && (title === '' || description.length < 20)) {
      report('panel-title-description', title, 'a title and a description of 20 characters');
    }
    const { unit, mappings = [] } = fieldConfig?.defaults ?? {};
    if (WITH_UNIT.has(type) && mappings.length === 0 && !UNITS.has(unit ?? ''))
      report('panel-units', title, unit ?? '-');
    if (targets.length === 0) report('panel-no-targets', title, 'no target');
    const refIds = targets.map(({ refId }) => refId);
    if (new Set(refIds).size !== refIds.length || refIds.includes('')) report('panel-refids', title, refIds.join());
    thresholdRule(panel, report);
  }
};

function thresholdRule({ title, targets = [], fieldConfig }: DashboardPanel, report: Report): void {
  const overridden = (fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
    properties.filter(({ id }) => id === 'thresholds').map(({ value }) => value as { steps: Step[] }),
  );
  const { thresholds, min } = fieldConfig?.defaults ?? {};
  for (const { steps } of [...(thresholds === undefined ? [] : [thresholds]), ...overridden]) {
    const values = steps.slice(1).map(({ value }) => value ?? Number.NaN);
    if (steps[0]?.value !== null) report('thresholds', title, 'the first step is not null');
    if (values.some((value, index) => !(value > (values[index - 1] ?? Number.NEGATIVE_INFINITY)))) {
      report('thresholds', title, 'the steps do not rise');
    }
  }
  const isBudget = targets.some(({ expr }) => expr.includes('budget_remaining'));
  if (isBudget && min !== undefined) report('budget-clamped', title, 'an overspent budget is below 0');
}
type Step = { readonly value: number | null };

const gridRule: Rule = ({ panels }, report) => {
  for (const [index, { title, gridPos: a }] of panels.entries()) {
    if (a.x < 0 || a.x + a.w > 24) report('grid', title, 'not within 24 columns');
    for (const { title: other, gridPos: b } of panels.slice(index + 1)) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
      if (!apart) report('grid', title, `lies over ${other}`);
    }
  }
};

/** Variables of written-out values as they are chosen at first: they may be parts of names. */
function withChosen(expr: string, { templating }: DashboardFile): string {
  let text = expr;
  for (const { name, type, query } of templating.list) {
    if (type !== 'custom') continue;
    text = text.replace(new RegExp(`\\$(\\{${name}\\}|${name}\\b)`, 'g'), String(query).split(',')[0] ?? '');
  }
  return text;
}

const HISTOGRAM_PART = /_(bucket|sum|count)$/;

const targetRule: Rule = (dashboard, report) => {
  const names = new Set(dashboard.templating.list.map(({ name }) => name));
  const several = dashboard.templating.list.filter(({ multi }) => multi === true).map(({ name }) => name);
  for (const [{ title, type }, { refId, expr: written, format }] of targetsOf(dashboard)) {
    const at = `${refId}: ${written}`;
    const expr = withChosen(written, dashboard);
    for (const [, name = ''] of expr.matchAll(/\$\{?(\w+)\}?/g)) {
      if (!names.has(name) && !/^__(rate_interval|interval|range)$/.test(name)) report('target-promql', title, at);
    }
    for (const { metric, matchers } of selectorsOf(expr)) {
      if (!matchers.includes('job=~"$job"')) report('target-job', title, at);
      if (!matchers.includes('instance=~"$instance"')) report('target-instance', title, at);
      for (const name of several) {
        if (new RegExp(`[^~]"\\$\\{?${name}\\b`).test(matchers)) report('variable-equals', title, `${name} in ${at}`);
      }
      const isCounter = /_total$/.test(metric) || (HISTOGRAM_PART.test(metric) && !metric.endsWith('_bytes_count'));
      const inRate = new RegExp(`\\b(rate|irate|increase)\\(${metric}\\{[^}]*\\}\\[`);
      if (isCounter && !inRate.test(expr)) report('target-counter-agg', title, at);
      if (!isCounter && inRate.test(expr)) report('rate-of-gauge', title, at);
    }
    if (/\b[a-z]\w*(_total|_bucket)\b(?!\{)/.test(expr)) report('target-job', title, `no matchers in ${at}`);
    for (const [, range = ''] of expr.matchAll(/\[([^\]]+)\]/g)) {
      if (range !== '$__rate_interval') report('target-rate-interval', title, at);
    }
    if (several.some((name) => expr.includes(`$${name}`)) && !/\b(sum|min|max|avg|count|topk)\b/.test(expr)) {
      report('variable-not-aggregated', title, at);
    }
    if (type === 'heatmap' && (format !== 'heatmap' || !expr.includes('by (le)'))) report('heatmap', title, at);
  }
};

/** Links lead to dashboards that are there, and set no variable that goes along already. */
function linkRule(dashboards: readonly DashboardFile[], dashboard: DashboardFile, report: Report): void {
  const uids = new Map(dashboards.map((one) => [one.uid, one]));
  const names = dashboard.templating.list.map(({ name }) => name);
  for (const [, url = ''] of JSON.stringify(dashboard.panels).matchAll(/"url":"((?:[^"\\]|\\.)*)"/g)) {
    const uid = /^\/d\/([^/]+)\//.exec(url)?.[1] ?? '';
    const target = uids.get(uid);
    if (target === undefined) report('data-link', '', `${url} leads nowhere`);
    if (!url.includes(`\${__all_variables}`)) report('data-link', '', `${url} loses the variables`);
    for (const [, name = ''] of url.matchAll(/[?&]var-(\w+)=/g)) {
      if (names.includes(name)) report('data-link', '', `${url} sets ${name} twice`);
      if (target?.templating.list.some((one) => one.name === name) !== true) {
        report('data-link', '', `${url} sets ${name}, which is not a variable there`);
      }
    }
  }
}

const RULES: readonly Rule[] = [nameRule, templateRule, datasourceRule, panelRule, gridRule, targetRule];

/** Names of metrics in an expression, histograms without their part. */
export const metricsOf = (expr: string): readonly string[] =>
  selectorsOf(expr)
    .map(({ metric }) => metric)
    .filter((metric) => metric !== '');

export const isCanonical = (metric: string): boolean =>
  CANONICAL_METRICS.some(({ name }) => metric.startsWith(name.replace(/\./g, '_')));
