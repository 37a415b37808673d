import type { HeadroomView, ScorecardView, ScoreView } from '../../model/scorecard.ts';
import { plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { figureWords, percentWords, timeWords } from '../phrases.ts';

const STATES: Readonly<Record<ScoreView['state'], readonly [className: string, words: string]>> = {
  met: ['measured', '✓ met'],
  missed: ['page', '▲ missed'],
  not_known: ['no_data', '? not known'],
};
const TARGETS = { below: 'below', above: 'above', at_most: 'at most' } as const;

/** A week against the traffic standard, as a part of the weekly review. */
export function scorecardSection({ scores, headroom }: ScorecardView): Html {
  const rows = scores.map((score) => [
    score.title,
    stateOf(score),
    valueWords(score.unit, score.value),
    `${TARGETS[score.target.is]} ${valueWords(score.unit, score.target.value)}`,
    score.detail,
  ]);
  return html`${plainTable(['Standard', 'State', 'Value', 'Target', 'Where'], rows, 'Scorecard')}
<p>Headroom if no handshake resumed a session at peak: ${headroomWords(headroom)}</p>`;
}

const stateOf = ({ state }: ScoreView): Html => {
  const [className, words] = STATES[state];
  return html`<span class="state ${className}">${words}</span>`;
};

/** Shares as per cent, times in their unit, counts as they are. */
export function valueWords(unit: ScoreView['unit'], value: number | null): string {
  if (value === null) return '–';
  if (unit === '1') return percentWords(Number(value.toPrecision(3)));
  return unit === 's' ? timeWords(value) : figureWords(value);
}

export const headroomWords = ({ headroom, detail }: HeadroomView): string =>
  headroom === null
    ? `not known: ${detail}.`
    : `${headroom < 0 ? 'none' : percentWords(Number(headroom.toPrecision(3)))} (${detail}).`;
