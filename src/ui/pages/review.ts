import type { Cell, DocumentChart, DocumentSection, DocumentTable } from '../../model/document.ts';
import type { WeeklyReview } from '../../model/review.ts';
import { hasSections } from '../../review/markdown.ts';
import { reviewSections } from '../../review/sections.ts';
import { stateText } from '../../review/words.ts';
import { STYLE } from '../assets.ts';
import { chartFigure, figuresTable, plainTable } from '../chart.ts';
import { type Html, html, trusted } from '../html.ts';
import { time } from '../layout.ts';

const LOOKS = ['a', 'b', 'c', 'd', 'e'] as const;

/** The week at a glance, what to do, then section by section. `baseUrl`: what links of pages begin with. */
export function reviewPage(review: WeeklyReview, baseUrl = ''): Html {
  const { week, from, to, headline, toDo } = review;
  const state = stateText(review);
  const tasks = toDo.map(
    ({ title, reason, link }) =>
      html`<li><strong>${link === null ? title : html`<a href="${addressed(link, baseUrl)}">${title}</a>`}</strong><br>${reason}</li>`,
  );
  const sections = hasSections(review) ? reviewSections(review) : [];
  return html`${weekLinks(review, baseUrl)}
${state === null ? '' : html`<p class="state no_traffic">${state}</p>`}
<p class="lede">${headline}</p>
${tasks.length === 0 ? '' : html`<section aria-labelledby="to-do"><h2 id="to-do">To do</h2><ol class="todo">${tasks}</ol></section>`}
${sections.map((one) => sectionHtml(one, baseUrl))}
<p class="quiet">${time(from)} to ${time(to)}. <a href="${baseUrl}/api/v1/review?week=${week}">JSON</a> · <a href="${baseUrl}/review/${week}.md">Markdown</a></p>`;
}

const weekLinks = ({ previous, next }: WeeklyReview, baseUrl: string): Html =>
  html`<nav aria-label="Weeks" class="weeks"><a rel="prev" href="${baseUrl}/review/${previous}">← ${previous}</a> <a rel="next" href="${baseUrl}/review/${next}">${next} →</a></nav>`;

function sectionHtml({ id, title, paragraphs, chart, tables }: DocumentSection, baseUrl: string): Html {
  const isAlone = tables.filter((one) => one.isOfChart !== true).length === 1;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${paragraphs.map((text) => html`<p>${text}</p>`)}
${chart === null ? '' : chartHtml(chart)}
${tables.map((one) => tableHtml(one, isAlone, baseUrl))}</section>`;
}

/** The figures of a chart are folded away; other tables are in sight. */
function tableHtml({ title, columns, rows, isOfChart }: DocumentTable, isAlone: boolean, baseUrl: string): Html {
  const cells = rows.map((row) => row.map((cell) => cellHtml(cell, baseUrl)));
  if (isOfChart === true) return figuresTable(title, columns, cells);
  return html`${isAlone ? '' : html`<h3>${title}</h3>`}${plainTable(columns, cells, title)}`;
}

function cellHtml(cell: Cell, baseUrl: string): Html | string {
  if (typeof cell === 'string') return cell;
  return cell.kind === 'time' ? time(cell.at) : html`<a href="${addressed(cell.href, baseUrl)}">${cell.text}</a>`;
}

const addressed = (href: string, baseUrl: string): string => (href.startsWith('/') ? `${baseUrl}${href}` : href);

function chartHtml({ label, from, to, lines, words }: DocumentChart): Html {
  return chartFigure({
    label,
    from: Date.parse(from),
    to: Date.parse(to),
    lines: lines.map((line, index) => ({
      label: line.label,
      look: LOOKS[index % LOOKS.length] ?? 'a',
      points: line.points.map(([at, value]) => [Date.parse(at), value]),
    })),
    words,
    start: time(from),
    end: time(to),
  });
}

/** A file that stands by itself: to keep, to send, to print. */
export const reviewDocument = (review: WeeklyReview, baseUrl: string): string =>
  `${
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Weekly review ${review.week} · slowburn</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<main>
<h1>Weekly review ${review.week}</h1>
${reviewPage(review, baseUrl)}
</main>
</body>
</html>`.markup
  }\n`;
