import type { Engine } from '../../src/app/engine.ts';
import { assert } from '../../src/base/assert.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { muteLabels } from '../../src/model/mute.ts';
import { rehearse } from '../../src/sim/drill/rehearse.ts';
import type { Scenario } from '../../src/sim/scenarios/scenario.ts';
import { type Family, numberText } from '../../src/telemetry/exposition.ts';
import { fleetFamilies } from '../../src/telemetry/fleet-families.ts';
import { sloFamilies } from '../../src/telemetry/slo-families.ts';
import { stateFamilies } from '../../src/telemetry/state-families.ts';
import { cheapPlan } from './cheap-drills.ts';
import { shippedRules } from './shipped-rules.ts';

/** An alert that fired, and when a person reads its runbook. */
export interface Firing {
  /** As matchers see them: labels, place, severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly readAt: EpochMs;
}

/** What a Prometheus would have scraped while alerts of a drill fired. */
export interface Scrapes {
  /** OpenMetrics text with times, oldest first. */
  readonly text: string;
  /** By name of the alert: the first of each. */
  readonly firings: ReadonlyMap<string, Firing>;
}

/** So long after an alert its runbook is open. */
const READ_AFTER_MS = 60_000;
/** Enough for every range that a runbook asks for. */
const KEPT_MS = 100 * 60_000;

class Enough extends Error {}

/**
 * Runs a scenario in virtual time and scrapes slowburn's own series of SLOs, alerts and the fleet after each tick, until
 * the runbook of the last of `alerts` would be read.
 */
export function scrapeDrill(scenario: Scenario, alerts: readonly string[]): Scrapes {
  const firings = new Map<string, Firing>();
  const scrapes: { readonly at: EpochMs; readonly text: string }[] = [];
  let engine: Engine | undefined;
  try {
    rehearse({
      plan: cheapPlan(scenario),
      rules: shippedRules(),
      flavor: 'canonical',
      onEngine: (made) => {
        engine = made;
      },
      onOutcome({ at, alerts: changes }) {
        assert(engine !== undefined, 'no engine');
        scrapes.push({ at, text: scrape(engine, at) });
        while ((scrapes[0]?.at ?? at) < at - KEPT_MS) scrapes.shift();
        for (const { kind, alert } of changes) {
          if (kind !== 'fired' || firings.has(alert.name)) continue;
          firings.set(alert.name, {
            labels: Object.fromEntries(muteLabels(alert)),
            readAt: epochMs(at + READ_AFTER_MS),
          });
        }
        if (alerts.every((name) => (firings.get(name)?.readAt ?? Number.POSITIVE_INFINITY) <= at)) throw new Enough();
      },
    });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return { text: `${scrapes.map(({ text }) => text).join('')}# EOF\n`, firings };
}

function scrape(engine: Engine, at: EpochMs): string {
  const source = {
    statuses: () => engine.burn.statuses(),
    firing: () => engine.evaluator.firing(),
    incidents: () => [],
    balancers: () => engine.aggregate.balancers(at),
    fleet: () => engine.aggregate,
    pointCounts: () => engine.series.counters(),
    seriesCount: () => engine.series.seriesCount(),
    foreignAlerts: () => 0,
    receivers: () => [],
    now: () => at,
  };
  const families = [
    ...stateFamilies(source),
    ...sloFamilies(source.statuses()),
    ...fleetFamilies(engine.aggregate, at),
  ];
  return families.map((family) => timed(family, at)).join('');
}

function timed({ name, samples }: Family, at: EpochMs): string {
  let text = '';
  for (const [labels, value, part = ''] of samples()) {
    text += `${name}${part}${labels === '' ? '' : `{${labels}}`} ${numberText(value)} ${at / 1000}\n`;
  }
  return text;
}

/** The samples of a text of metrics, as if they had been scraped then. */
export const timedText = (text: string, at: EpochMs): string =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => `${line} ${at / 1000}\n`)
    .join('');
