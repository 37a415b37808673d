import type { EpochMs, Ms, Ratio } from '../base/units.ts';
import { type Labels, labelsKey } from './labels.ts';

export type Severity = 'page' | 'ticket';

/** Who acts first on an alert; routes can match it. */
export const OWNERS = ['edge', 'service', 'network', 'partner'] as const;
export type Owner = (typeof OWNERS)[number];

/** Where in the topology an alert lies. Absent parts are unknown, not "everywhere". */
export interface Place {
  readonly service?: string;
  readonly cluster?: string;
  readonly zone?: string;
  readonly region?: string;
  readonly host?: string;
  readonly balancer?: string;
  readonly listener?: string;
  readonly configVersion?: string;
}

/** Where a thing is measured: towards clients, or towards the hosts behind the balancers (values of `lb.side`). */
export const SIDES = ['downstream', 'upstream'] as const;
export type Side = (typeof SIDES)[number];

/** One reason that an alert gives for itself: `text` is what a person reads, `value` what a machine compares. */
export interface Evidence {
  readonly name: string;
  readonly value: number | string | boolean | null;
  /** UCUM-like unit of a number (`s`, `1`, `{request}`); absent for text. */
  readonly unit?: string;
  readonly text: string;
}

/**
 * Time until the budget is gone (design section 8). Band is [low, high]; null = never on this course, 0 = exhausted.
 */
export interface Exhaustion {
  readonly exhausted: boolean;
  readonly until: Ms | null;
  readonly low: Ms | null;
  readonly high: Ms | null;
  /** SLO window / burn, the textbook figure; null when nothing burns. */
  readonly pace: Ms | null;
  /** When the budget is positive again if errors stopped now; null unless exhausted. */
  readonly recoversAt: EpochMs | null;
}

/** Slices of time that a budget counts: as good or bad, or each by its own ratio. */
export interface SliceFigures {
  readonly width: Ms;
  readonly byRatio: boolean;
}

/** What a burn alert knows about its budget at the moment of a change. */
export interface BurnFigures {
  readonly exhaustion: Exhaustion;
  /** 1 - spent, signed, may be below 0; null where there is no traffic to judge by. */
  readonly budgetRemaining: Ratio | null;
  /** Error ratio over the long window of the highest holding tier. */
  readonly errorRatio: Ratio | null;
  /** Share of the whole budget spent since the alert began. */
  readonly spentSince: Ratio | null;
  /** When the burn set in, which is before the alert could begin. */
  readonly burningSince: EpochMs;
  /** Share of the whole budget spent since `burningSince`. */
  readonly spent: Ratio | null;
  /** The SLO window as written: `30d`. */
  readonly window: string;
  /** Bad means slower than this; null where bad means errors. */
  readonly slowerThan: Ms | null;
  /** What `errorRatio` is a share of; null for events. Alerts that were stored before there were slices lack it. */
  readonly slices?: SliceFigures | null;
}

/**
 * A firing or just resolved alert. `key` is its identity: name and identity labels, never a measured value.
 * `tier` is the highest of this episode, `tiersHolding` all that hold now, highest first (empty for detectors).
 */
export interface Alert {
  readonly key: string;
  readonly name: string;
  /** Identity labels and labels carried from the SLO or rule. */
  readonly labels: Labels;
  readonly place: Place;
  readonly severity: Severity;
  readonly tier: string | null;
  readonly tiersHolding: readonly string[];
  readonly since: EpochMs;
  readonly owner: Owner;
  /** Name of the runbook file without `.md`, or an absolute URL. */
  readonly runbook: string;
  /** One sentence in users' terms. */
  readonly summary: string;
  readonly evidence: readonly Evidence[];
  readonly burn: BurnFigures | null;
  /** On which side all of it is measured; absent where that is not known, or both. */
  readonly side?: Side;
  /** When what it tells of began, where that is known better than by `since`. */
  readonly began?: EpochMs;
  /** Clusters that an alert of the whole fleet is about; absent = of all of them, as far as it knows. */
  readonly clusters?: readonly string[];
  /** Where it came from, when another system raised it; absent for our own. */
  readonly foreign?: ForeignOrigin;
}

/** What the system that raised an alert says of itself. */
export interface ForeignOrigin {
  /** Absolute http(s) address of what raised it; null where it names none. */
  readonly link: string | null;
}

/** The evidence that an alert's subject sends no telemetry: it is held open, whatever its sender says. */
export const NO_DATA = 'no_data';

/**
 * What one tick changed about an alert. `updated` carries fresh figures with the same state, tier and severity:
 * incidents keep them for messages and pages; it is no line of replay's output.
 */
export type AlertChange =
  | { readonly kind: 'fired'; readonly at: EpochMs; readonly alert: Alert }
  | { readonly kind: 'changed'; readonly at: EpochMs; readonly alert: Alert }
  | { readonly kind: 'updated'; readonly at: EpochMs; readonly alert: Alert }
  | {
      readonly kind: 'resolved';
      readonly at: EpochMs;
      readonly alert: Alert;
      /**
       * `retired`: unheard for so long that its state is unknown. `corrected`: it would go on if a correction did not
       * leave out what it rests on.
       */
      readonly reason: 'recovered' | 'corrected' | 'retired' | 'removed';
    };

/** Whether an alert is about the whole fleet: it has no place, and says so. */
export const isFleetWide = ({ labels, place }: Alert): boolean =>
  labels.get('scope') === 'fleet' && Object.keys(place).length === 0;

/** The identity of an alert: its name and the labels that tell it from its siblings. */
export const alertKey = (name: string, identity: Labels): string => `${name}${labelsKey(identity)}`;
