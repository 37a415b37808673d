import type { DashboardPlace } from '../../model/dashboards.ts';

/** Units by Grafana's ids: those that our panels use. */
export type Unit =
  | 'percentunit'
  | 'reqps'
  | 'cps'
  | 'ops'
  | 'Bps'
  | 'bytes'
  | 's'
  | 'short'
  | 'none'
  | 'dtdurations'
  | 'dateTimeAsIso';

export interface Threshold {
  /** Null = from minus infinity: always the first. */
  readonly value: number | null;
  readonly color: 'green' | 'yellow' | 'orange' | 'red' | 'transparent' | 'blue';
}

export interface Query {
  readonly expr: string;
  readonly legend?: string;
  /** One value at the end of the range instead of its course. */
  readonly instant?: boolean;
  readonly format?: 'time_series' | 'table' | 'heatmap';
}

export interface DataLink {
  readonly title: string;
  readonly to: DashboardPlace;
  /** Variables set from the fields of the row, as `name: field`. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Values that have names: their text is shown. */
export type Mapping = Readonly<Record<string, { readonly text: string; readonly color: Threshold['color'] }>>;

export interface Column {
  /** As Grafana names the field: a label, or `Value #A`. */
  readonly field: string;
  readonly title: string;
  readonly unit?: Unit;
  readonly thresholds?: readonly Threshold[];
  readonly link?: DataLink;
  readonly hidden?: boolean;
}

interface Common {
  readonly title: string;
  readonly description: string;
  readonly queries: readonly Query[];
  readonly unit?: Unit;
  /** Of 24. */
  readonly width?: number;
  readonly height?: number;
  readonly thresholds?: readonly Threshold[];
  readonly link?: DataLink;
}

export type Panel =
  | (Common & {
      readonly kind: 'timeseries';
      readonly stack?: boolean;
      readonly bars?: boolean;
      readonly min?: number;
      readonly max?: number;
      readonly log?: boolean;
      readonly lines?: boolean;
      /** The same, so long ago: `7d`. */
      readonly shift?: string;
    })
  | (Common & { readonly kind: 'stat'; readonly mapping?: Mapping; readonly decimals?: number })
  | (Common & {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly sortBy?: { readonly title: string; readonly descending: boolean };
    })
  | (Common & { readonly kind: 'heatmap' })
  | (Common & { readonly kind: 'state-timeline'; readonly mapping: Mapping });

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export type Variable =
  | {
      readonly kind: 'query';
      readonly name: string;
      readonly label: string;
      readonly metric: string;
      readonly labelName: string;
    }
  | {
      readonly kind: 'custom';
      readonly name: string;
      readonly label: string;
      readonly values: readonly string[];
      readonly chosen: string;
    };

export interface Annotation {
  readonly name: string;
  readonly expr: string;
  readonly color: string;
  readonly title: string;
  readonly text: string;
  readonly tagKeys: string;
  /** The value is the time of the event, in milliseconds. */
  readonly valueIsTime: boolean;
}

export interface Dashboard {
  readonly place: DashboardPlace;
  readonly description: string;
  /** Start of the range that it opens with, as `now-6h`. */
  readonly from: string;
  readonly variables: readonly Variable[];
  readonly annotations: readonly Annotation[];
  readonly rows: readonly Row[];
}
