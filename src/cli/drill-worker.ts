import { assert } from '../base/assert.ts';
import { planOf } from '../sim/drill/drill-run.ts';
import { type Rehearsal, rehearse } from '../sim/drill/rehearse.ts';
import type { EmittedFlavor } from '../sim/emit/emitter.ts';
import { SCENARIOS } from '../sim/scenarios/catalog.ts';
import { loadDrillRules, type RulesSource } from './drill-rules.ts';

/** What such a process is started with, as JSON. */
export interface WorkerStart {
  readonly source: RulesSource;
  readonly flavor: EmittedFlavor;
}

/** One run that it is asked for. */
export interface DrillTask {
  readonly scenario: string;
  readonly seed: number;
}

/** What it answers. */
export interface DrillAnswer {
  readonly rehearsal: Rehearsal;
  readonly wallS: number;
}

const { source, flavor } = JSON.parse(process.argv[2] ?? '{}') as WorkerStart;
const { rules } = loadDrillRules(source);
assert(rules !== null, 'rules that could be read a moment ago cannot any more');

process.on('message', ({ scenario: name, seed }: DrillTask) => {
  const scenario = SCENARIOS.find((one) => one.name === name);
  assert(scenario !== undefined, `there is no scenario ${name}`);
  const started = performance.now();
  const rehearsal = rehearse({ plan: planOf(scenario, seed).plan, rules, flavor });
  const answer: DrillAnswer = { rehearsal, wallS: (performance.now() - started) / 1000 };
  process.send?.(answer);
});
