import { type Html, html } from './html.ts';

const PLACES = [
  { path: '/', name: 'Now' },
  { path: '/slos', name: 'SLOs' },
  { path: '/stages', name: 'Stages' },
  { path: '/traffic', name: 'Traffic' },
  { path: '/fleet', name: 'Fleet' },
  { path: '/silences', name: 'Silences' },
  { path: '/corrections', name: 'Corrections' },
  { path: '/actions', name: 'Actions' },
  { path: '/runbooks', name: 'Runbooks' },
] as const;

/** The frame of every page. `now` is the time that the page shows. */
export function layout(
  page: { readonly title: string; readonly path: string; readonly now: string; readonly refreshSeconds?: number },
  body: Html,
): string {
  const links = PLACES.map(
    ({ path, name }) =>
      html`<li><a href="${path}"${page.path === path ? html` aria-current="page"` : ''}>${name}</a></li>`,
  );
  const refresh =
    page.refreshSeconds === undefined
      ? ''
      : html`<noscript><meta http-equiv="refresh" content="${page.refreshSeconds}"></noscript>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}
<title>${page.title} · slowburn</title>
<link rel="stylesheet" href="/assets/slowburn.css">
<script src="/assets/slowburn.js" defer></script>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><span class="brand">slowburn</span><nav aria-label="Pages"><ul>${links}</ul></nav></header>
<main id="main">
<h1>${page.title}</h1>
${body}
</main>
<p id="said" class="said" aria-live="polite"></p>
<footer><p>As of ${time(page.now)}. Times are UTC. <a href="/api/openapi.json">API</a> · <a href="/metrics">Metrics</a></p></footer>
</body>
</html>`.markup;
}

/** A time as people read it, with the exact one in the markup: `2026-01-01 00:00:00 UTC`. */
export const time = (at: string): Html => html`<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time>`;

/** Severity as words and colour, never colour alone. */
export const severityBadge = (severity: string): Html =>
  html`<span class="badge ${severity}">${severity === 'page' ? '▲ page' : '● ticket'}</span>`;
