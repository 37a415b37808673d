import type { Cell, DocumentSection, DocumentTable } from '../model/document.ts';
import type { WeeklyReview } from '../model/review.ts';
import { reviewSections } from './sections.ts';
import { spanText, stateText } from './words.ts';

/** The review as Markdown, the same text for the same review. Paths of pages become links below `baseUrl`. */
export function reviewMarkdown(review: WeeklyReview, baseUrl = ''): string {
  const tasks = review.toDo.map(({ title, reason, link }, index) => {
    const text = link === null ? `**${escaped(title)}**` : `**[${escaped(title)}](${addressed(link, baseUrl)})**`;
    return `${index + 1}. ${text}: ${escaped(reason)}`;
  });
  const state = stateText(review);
  return `${[
    `# Weekly review ${review.week}`,
    ...(state === null ? [] : [`**${escaped(state)}**`]),
    escaped(spanText(review)),
    escaped(review.headline),
    ...(tasks.length === 0 ? [] : ['## To do', tasks.join('\n')]),
    ...(hasSections(review) ? reviewSections(review).flatMap((one) => sectionBlocks(one, baseUrl)) : []),
  ].join('\n\n')}\n`;
}

/** Of a week of which there is nothing to tell, empty sections would look like zeros. */
export const hasSections = ({ state }: WeeklyReview): boolean => state === 'over' || state === 'running';

function sectionBlocks({ title, paragraphs, tables }: DocumentSection, baseUrl: string): readonly string[] {
  const shown = tables.filter(({ isOfChart }) => isOfChart !== true);
  return [
    `## ${escaped(title)}`,
    ...paragraphs.map(escaped),
    ...shown.flatMap((one) => [...(shown.length > 1 ? [`### ${escaped(one.title)}`] : []), lines(one, baseUrl)]),
  ];
}

function lines({ columns, rows }: DocumentTable, baseUrl: string): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(escaped)),
    line(columns.map(() => '---')),
    ...rows.map((cells) => line(cells.map((cell) => cellText(cell, baseUrl)))),
  ].join('\n');
}

function cellText(cell: Cell, baseUrl: string): string {
  if (typeof cell === 'string') return escaped(cell);
  if (cell.kind === 'time') return `${cell.at.slice(0, 16).replace('T', ' ')} UTC`;
  return `[${escaped(cell.text)}](${addressed(cell.href, baseUrl)})`;
}

const addressed = (href: string, baseUrl: string): string =>
  `${href.startsWith('/') ? baseUrl : ''}${href}`.replace(/[()\s<>|]/g, (one) => encodeURIComponent(one));

/** Names come from telemetry: none of them may begin markup, a table cell or another line. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>|#]/g, '\\$&').replace(/\s+/g, ' ');
