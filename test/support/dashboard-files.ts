import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly datasource?: unknown;
  readonly instant?: boolean;
  readonly format?: string;
}

export interface DashboardPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: unknown;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly min?: number;
      readonly mappings?: readonly unknown[];
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null }[] };
    };
    readonly overrides: readonly { readonly properties: readonly { readonly id: string; readonly value: unknown }[] }[];
  };
}

export interface DashboardVariable {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly query: unknown;
  readonly datasource?: unknown;
  readonly refresh?: number;
  readonly multi?: boolean;
  readonly allValue?: string;
  readonly current?: { readonly value?: unknown };
}

export interface DashboardAnnotation {
  readonly name: string;
  readonly expr?: string;
  readonly builtIn?: number;
  readonly datasource?: unknown;
  readonly useValueForTime?: boolean;
}

/** A dashboard as the file says it. */
export interface DashboardFile {
  readonly file: string;
  readonly uid: string;
  readonly title: string;
  readonly [key: string]: unknown;
  readonly panels: readonly DashboardPanel[];
  readonly templating: { readonly list: readonly DashboardVariable[] };
  readonly annotations: { readonly list: readonly DashboardAnnotation[] };
}

const DASHBOARDS = join(import.meta.dirname, '..', '..', 'dashboards');

export const committedDashboards = (): readonly DashboardFile[] =>
  readdirSync(DASHBOARDS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((file) => ({ ...(JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as DashboardFile), file }));

/** One expression and where it stands. */
export interface Expression {
  readonly where: string;
  readonly expr: string;
}

/** What `$__rate_interval` and its like are in Grafana for a minute's steps. */
const BUILT_IN: Readonly<Record<string, string>> = {
  __rate_interval: '1m',
  __interval: '15s',
  __range: '5m',
};

/**
 * As Grafana would send it: variables that are chosen from values as `.+`, of a custom one each of its values in turn.
 * Throws for a variable that the dashboard does not have.
 */
export function substituted(expr: string, variables: readonly DashboardVariable[]): readonly string[] {
  const found = /\$\{?(\w+)\}?/.exec(expr);
  if (found === null) return [expr];
  const name = found[1] ?? '';
  const variable = variables.find((one) => one.name === name);
  const values =
    name in BUILT_IN
      ? [BUILT_IN[name] as string]
      : variable === undefined
        ? []
        : variable.type === 'custom'
          ? String(variable.query).split(',')
          : [variable.allValue ?? '.+'];
  if (values.length === 0) throw new Error(`there is no variable ${name} for ${expr}`);
  return values.flatMap((value) => substituted(expr.replaceAll(found[0], value), variables));
}

/** Of panels and annotations, substituted. */
export function expressionsOf({ file, panels, annotations, templating }: DashboardFile): readonly Expression[] {
  const written = [
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ refId, expr }) => ({ where: `${file}: ${title} ${refId}`, expr })),
    ),
    ...annotations.list.flatMap(({ name, expr }) =>
      expr === undefined ? [] : [{ where: `${file}: annotation ${name}`, expr }],
    ),
  ];
  return written.flatMap(({ where, expr }) => substituted(expr, templating.list).map((one) => ({ where, expr: one })));
}

/** The selector and label of `label_values(selector, label)`, substituted. */
export function labelValuesOf(
  variable: DashboardVariable,
  variables: readonly DashboardVariable[],
): { readonly selector: string; readonly label: string } {
  const { query } = variable.query as { readonly query: string };
  const match = /^label_values\((.+), (\w+)\)$/.exec(query);
  if (match === null) throw new Error(`variable ${variable.name} asks ${query}, not label_values(selector, label)`);
  const [selector = ''] = substituted(match[1] ?? '', variables);
  return { selector, label: match[2] ?? '' };
}
