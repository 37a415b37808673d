import type { EpochMs, Ratio } from '../base/units.ts';
import type { Alert, AlertChange, Severity } from '../model/alert.ts';
import { CLOSING } from '../model/incident.ts';
import type { ReplaySink } from './replay-output.ts';

/** One life of a burn alert, from fired to resolved. */
export interface BurnEpisode {
  readonly slo: string;
  readonly key: string;
  /** The group's values in the order of group-by. */
  readonly group: readonly string[];
  /** The highest that it reached. */
  readonly severity: Severity;
  readonly tier: string | null;
  /** When it first paged; of a ticket, when it fired. */
  readonly firedAt: EpochMs;
  /** When the burn set in. */
  readonly onset: EpochMs;
  /** Share of the whole budget spent since the onset, at `firedAt` and at the end. */
  readonly spentAtFire: Ratio | null;
  readonly spentAtEnd: Ratio | null;
  /** null = it fired when the replay ended. */
  readonly endedAt: EpochMs | null;
}

/** What is left of a group's budget when the replay ends. */
export interface BudgetLeft {
  readonly slo: string;
  readonly group: readonly string[];
  readonly remaining: Ratio | null;
}

export interface EpisodeBook {
  readonly sink: ReplaySink;
  /** In the order of `firedAt`, then of the alert's key. */
  episodes(): readonly BurnEpisode[];
  /** Notifications that page, whatever alerts their incidents hold. */
  pagesSent(): number;
  budgets(): readonly BudgetLeft[];
  endedAt(): EpochMs | null;
}

/** Keeps of a replay what fired about budgets. `groupBy` gives the attributes of an SLO's groups by its id. */
export function createEpisodeBook(groupBy: (slo: string) => readonly string[]): EpisodeBook {
  const open = new Map<string, BurnEpisode>();
  const done: BurnEpisode[] = [];
  let budgets: readonly BudgetLeft[] = [];
  let pagesSent = 0;
  let endedAt: EpochMs | null = null;
  const valuesOf = (slo: string, labels: ReadonlyMap<string, string>): readonly string[] =>
    groupBy(slo).map((name) => labels.get(name) ?? '');

  const hear = ({ kind, alert, at }: AlertChange): void => {
    const { burn } = alert;
    if (burn === null) return;
    const slo = alert.labels.get('slo') ?? '';
    const before = open.get(alert.key);
    if (kind === 'resolved') {
      open.delete(alert.key);
      if (before !== undefined) done.push({ ...before, spentAtEnd: burn.spent, endedAt: at });
    } else if (before === undefined) {
      open.set(alert.key, begin(slo, valuesOf(slo, alert.labels), alert, at));
    } else {
      open.set(alert.key, goOn(before, alert, at));
    }
  };

  return {
    sink: {
      outcome({ alerts, result }) {
        for (const change of alerts) hear(change);
        pagesSent += result.notifications.filter(
          ({ severity, reason }) => severity === 'page' && !CLOSING.includes(reason),
        ).length;
      },
      close(at, statuses) {
        endedAt = at;
        budgets = statuses.map(({ slo, labels, budgetRemaining }) => ({
          slo: slo.id,
          group: valuesOf(slo.id, labels),
          remaining: budgetRemaining,
        }));
      },
    },
    episodes: () =>
      [...done, ...open.values()].sort((a, b) => a.firedAt - b.firedAt || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    pagesSent: () => pagesSent,
    budgets: () => budgets,
    endedAt: () => endedAt,
  };
}

const begin = (slo: string, group: readonly string[], alert: Alert, at: EpochMs): BurnEpisode => ({
  slo,
  key: alert.key,
  group,
  severity: alert.severity,
  tier: alert.tier,
  firedAt: at,
  onset: alert.burn?.burningSince ?? at,
  spentAtFire: alert.burn?.spent ?? null,
  spentAtEnd: alert.burn?.spent ?? null,
  endedAt: null,
});

/** Fresh figures; a ticket that rises to a page fires anew, as far as a person notices. */
function goOn(before: BurnEpisode, alert: Alert, at: EpochMs): BurnEpisode {
  const spent = alert.burn?.spent ?? null;
  const tier = alert.tier;
  if (before.severity === 'ticket' && alert.severity === 'page') {
    return { ...before, severity: 'page', tier, firedAt: at, spentAtFire: spent, spentAtEnd: spent };
  }
  return { ...before, tier, spentAtEnd: spent };
}
