import { parseArgs } from 'node:util';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import type { Rules } from '../../src/config/config.ts';
import { type LabelledScene, type Score, scoreOf } from '../../src/correlate/score.ts';
import { durationText } from '../../src/model/phrases.ts';
import { SCENARIOS } from '../../src/sim/scenarios/catalog.ts';
import { type Scenario, STANDARD_SEED } from '../../src/sim/scenarios/scenario.ts';
import { readScenarios, rulesOf } from '../contract/correlation/scenario.ts';
import { shippedRules } from '../support/shipped-rules.ts';
import { runScene } from './scene.ts';
import { type AlertStream, elsewhere, type LabelledFile, recordStream, streamsOfFile } from './stream.ts';

/**
 * `npm run score`: the alerts of every drill, alone and two failures at a time at random, and those of situations that
 * are told in files, through the correlator; how well its incidents match the true causes. Exit 1 when a figure misses
 * the gate of design section 10.
 */
const SEEDS_DEFAULT = 2;
const OVERLAPS_DEFAULT = 200;
const AROUND_MS = 15 * 60_000;

/** Failures at the edge, which every cluster feels: two of them at once are one to anybody who looks from outside. */
const AT_THE_EDGE =
  /^(ticket-|launch-|accept-|config-|certificate-|websockets-|noisy-|region-|l4-|traffic-|telemetry-)/;

/** What befalls the whole fleet does so once at a time. */
const OF_THE_FLEET = /^health-/;

interface Gate {
  readonly what: string;
  readonly holds: (score: Score) => boolean;
}

const GATES: readonly Gate[] = [
  { what: 'precision >= 0.98', holds: ({ precision }) => (precision ?? 1) >= 0.98 },
  { what: 'recall >= 0.90', holds: ({ recall }) => (recall ?? 1) >= 0.9 },
  { what: 'over-merged <= 1 %', holds: ({ overMerged }) => (overMerged ?? 0) <= 0.01 },
  { what: 'no page missed', holds: ({ pagesMissed }) => pagesMissed === 0 },
  { what: 'nothing changed by a restart', holds: ({ changedByRestart }) => changedByRestart === 0 },
  { what: 'nothing left open', holds: ({ leftOpen }) => leftOpen === 0 },
];

function main(): number {
  const { values } = parseArgs({
    options: { seeds: { type: 'string' }, overlaps: { type: 'string' }, verbose: { type: 'boolean' } },
  });
  const seeds = Number(values.seeds ?? SEEDS_DEFAULT);
  const overlaps = Number(values.overlaps ?? OVERLAPS_DEFAULT);
  if (!(Number.isSafeInteger(seeds) && seeds >= 1 && Number.isSafeInteger(overlaps) && overlaps >= 1)) {
    process.stderr.write('npm run score -- [--seeds N] [--overlaps N] [--verbose]\n');
    return 2;
  }
  const rules = shippedRules();
  const streams = record(seeds, rules);
  const alone = streams.map((stream) => ({ name: stream.cause, scene: runScene([stream], rules.correlation) }));
  const files = readScenarios()
    .filter((scenario): scenario is LabelledFile => scenario.causes !== undefined)
    .map((file) => ({ name: file.id, scene: runScene(streamsOfFile(file), rulesOf(file).correlation) }));
  const prng = createPrng(overlaps);
  const pairs = Array.from({ length: overlaps }, () => overlap(streams, prng)).map((pair) => ({
    name: pair.map(({ cause }) => cause).join(' + '),
    scene: runScene(pair, rules.correlation),
  }));
  if (values.verbose === true) for (const one of [...alone, ...files, ...pairs]) process.stdout.write(wrongText(one));
  const missed = [
    print(`${alone.length} drills alone`, alone),
    print(`${files.length} situations in which others go wrong`, files),
    print(`${pairs.length} overlaps of two`, pairs),
  ];
  return missed.some((one) => one) ? 1 : 0;
}

/** What each failure of the catalog makes alerts say. */
function record(seeds: number, rules: Rules): readonly AlertStream[] {
  const streams: AlertStream[] = [];
  for (const scenario of SCENARIOS.filter(isFailure)) {
    for (let seed = STANDARD_SEED; seed < STANDARD_SEED + seeds; seed += 1) {
      process.stderr.write(`${scenario.name}, seed ${seed}\n`);
      const stream = recordStream(scenario, seed, rules);
      if (stream.changes.length > 0) streams.push(stream);
    }
  }
  return streams;
}

const isFailure = (scenario: Scenario): boolean =>
  scenario.plan(scenario.size, STANDARD_SEED).expected.kind === 'incident';

/** Two failures of one fleet, the second of other clusters; it begins at any moment around the first. */
function overlap(streams: readonly AlertStream[], prng: Prng): readonly AlertStream[] {
  const pick = (from: readonly AlertStream[]): AlertStream => {
    const chosen = from[Math.floor(prng.next() * from.length)];
    if (chosen === undefined) throw new Error('no stream to choose from');
    return chosen;
  };
  const first = pick(streams);
  const isOfFleet = OF_THE_FLEET.test(first.cause);
  const second = pick(
    streams.filter(({ cause }) => !AT_THE_EDGE.test(cause) && !(isOfFleet && OF_THE_FLEET.test(cause))),
  );
  const begin = first.changes[0]?.at ?? first.until;
  const end = first.changes.at(-1)?.at ?? first.until;
  const at = begin - AROUND_MS + prng.next() * (end - begin + 2 * AROUND_MS);
  const byMs = Math.round((at - (second.changes[0]?.at ?? second.until)) / 10_000) * 10_000;
  return [first, elsewhere(second, 'other', byMs)];
}

interface Named {
  readonly name: string;
  readonly scene: LabelledScene;
}

/** Prints the figures; true where the gate is missed. */
function print(title: string, scenes: readonly Named[]): boolean {
  const score = scoreOf(scenes.map(({ scene }) => scene));
  const percent = (value: number | null): string => (value === null ? '-' : `${(value * 100).toFixed(2)} %`);
  const lines = [
    `${title}: ${score.alerts} alerts of ${score.causes} causes in ${score.incidents} incidents`,
    `  pairwise precision ${percent(score.precision)}, recall ${percent(score.recall)}, over-merged ${percent(score.overMerged)}`,
    `  ${(score.alertsPerIncident ?? 0).toFixed(1)} alerts per incident, ${score.pages} pages for ${score.pagesDeserved} causes that deserve one, ${score.pagesMissed} missed`,
    `  changed by a restart ${score.changedByRestart}, left open ${score.leftOpen}`,
    score.firstPageMs === null
      ? '  no page'
      : `  first page ${durationText(score.firstPageMs.median)} after the first alert (median), ${durationText(score.firstPageMs.longest)} at the latest`,
  ];
  const misses = GATES.filter(({ holds }) => !holds(score)).map(({ what }) => `  MISSED: ${what}`);
  process.stdout.write(`${[...lines, ...misses].join('\n')}\n`);
  return misses.length > 0;
}

function wrongText({ name, scene }: Named): string {
  const one = scoreOf([scene]);
  const wrong = GATES.filter(({ holds }) => !holds(one)).map(({ what }) => what);
  return wrong.length === 0 ? '' : `${name}: not ${wrong.join(', ')}\n`;
}

process.exitCode = main();
