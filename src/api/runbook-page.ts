import { Marked, type RendererObject, type Tokens } from 'marked';
import { DASHBOARD, dashboardUrl } from '../model/dashboards.ts';
import { BLANKS, type BlankContext, type BlankName, type BlankValues, fillBlanks } from '../model/runbook-blanks.ts';
import { stepId } from '../model/runbook-step.ts';

/** A runbook, ready to be framed. `body` is markup made here from the Markdown; the first heading became `title`. */
export interface RunbookPage {
  readonly name: string;
  readonly title: string;
  readonly body: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** What a runbook is opened for. */
export interface RunbookOccasion {
  /** What its blanks are filled with. */
  readonly values: BlankValues;
  /** The incident that they come from; links between runbooks keep it. */
  readonly incident: number | null;
  /** Base of dashboard links, without a trailing slash; null = there is no Grafana. */
  readonly grafanaUrl: string | null;
  /** Set into another page: its ids begin with this, and its headings stand a level lower. */
  readonly idPrefix?: string;
}

const NO_OCCASION: RunbookOccasion = { values: {}, incident: null, grafanaUrl: null };

/**
 * Renders a runbook. Markup inside the Markdown is shown, not obeyed; links that are neither http(s), mailto nor
 * relative lose their target; `[X](Other.md)` leads to the page of that runbook. Headings get the ids that links
 * use, and so do the steps of the first numbered list below each: `first-minutes-step-1`. Blanks such as `{cluster}`
 * are filled so that no value becomes markup, a command or a query; those that stay are marked, and listed on top.
 */
export function renderRunbook(name: string, markdown: string, occasion: RunbookOccasion = NO_OCCASION): RunbookPage {
  const open = new Set<BlankName>();
  const filled = new Set<BlankName>();
  const marked = new Marked({ gfm: true });
  marked.use({ renderer: headingsAndSteps(occasion.idPrefix ?? '') });
  marked.use({ renderer: textAndLinks(occasion, open, filled) });
  const tokens = marked.lexer(markdown);
  // What stands in raw markup is text like any other: only what the parser has made itself is markup already.
  void marked.walkTokens(tokens, (token) => {
    if (token.type === 'text') token['escaped'] = false;
  });
  const first = tokens.findIndex((token) => token.type !== 'space');
  const heading = tokens[first];
  const titled = heading?.type === 'heading' && heading['depth'] === 1;
  if (titled) tokens.splice(first, 1);
  const body = marked.parser(tokens);
  return { name, title: titled ? String(heading['text']) : name, body: `${filledNote(occasion, open, filled)}${body}` };
}

function headingsAndSteps(idPrefix: string): RendererObject {
  const ids = new Map<string, number>();
  /** Id of the heading above; null before the first and once its steps have theirs. */
  let above: string | null = null;
  return {
    heading({ tokens, depth, text }: Tokens.Heading) {
      const id = `${idPrefix}${headingId(text, ids)}`;
      above = id;
      const level = idPrefix === '' ? depth : Math.min(6, depth + 1);
      return `<h${level} id="${id}">${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    list({ ordered, start, items }: Tokens.List) {
      const heading = ordered ? above : null;
      if (ordered) above = null;
      const steps = items.map((item, index) => {
        const text = this.listitem(item);
        return heading === null ? text : text.replace('<li>', `<li id="${stepId(heading, index + 1)}">`);
      });
      const from = ordered && start !== '' && start !== 1 ? ` start="${start}"` : '';
      const tag = ordered ? 'ol' : 'ul';
      return `<${tag}${from}>\n${steps.join('')}</${tag}>\n`;
    },
  };
}

function textAndLinks(occasion: RunbookOccasion, open: Set<BlankName>, filled: Set<BlankName>): RendererObject {
  const fill = (text: string, context: BlankContext): string =>
    fillBlanks(text, context, occasion.values)
      .map((part) => {
        if (part.kind === 'text') return escapeText(part.text);
        const { name, value } = part;
        (value === null ? open : filled).add(name);
        return value === null ? `<mark title="${escapeText(BLANKS[name])}">{${name}}</mark>` : escapeText(value);
      })
      .join('');
  return {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeText(text),
    text(token: Tokens.Text | Tokens.Escape) {
      if ('tokens' in token && token.tokens !== undefined) return this.parser.parseInline(token.tokens);
      return 'escaped' in token && token.escaped === true ? token.text : fill(token.text, 'prose');
    },
    code({ text, lang = '' }: Tokens.Code) {
      const language = /^[\w-]*/.exec(lang)?.[0] ?? '';
      const kind = language === '' ? '' : ` class="language-${language}"`;
      return `<pre><code${kind}>${fill(text, CONTEXTS[language] ?? 'code')}\n</code></pre>\n`;
    },
    codespan: ({ text }: Tokens.Codespan) => `<code>${fill(text, 'shell')}</code>`,
    link({ href, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens);
      const target = linkTarget(href, occasion);
      return target === null ? inner : `<a href="${escapeText(target)}">${inner}</a>`;
    },
    image: ({ text }: Tokens.Image) => escapeText(text),
  };
}

const CONTEXTS: Readonly<Record<string, BlankContext>> = { sh: 'shell', bash: 'shell', promql: 'promql' };

/** Says where values come from, and what is left to the reader. */
function filledNote(
  { incident, idPrefix }: RunbookOccasion,
  open: ReadonlySet<BlankName>,
  filled: ReadonlySet<BlankName>,
): string {
  const left = [...open].map((name) => `<mark>{${name}}</mark> ${escapeText(BLANKS[name])}`).join('; ');
  const from =
    incident !== null && idPrefix === undefined && filled.size > 0
      ? `Commands are filled in for <a href="/incidents/${incident}">incident ${incident}</a>.`
      : '';
  const rest = left === '' ? '' : `<details><summary>Left for you to fill in</summary><p>${left}.</p></details>`;
  return from === '' && rest === '' ? '' : `<div class="blanks">${from === '' ? '' : `<p>${from}</p>`}${rest}</div>\n`;
}

/** The page when nobody restyles it: plain, complete, no style. */
export function plainRunbookPage({ title, body }: RunbookPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)} · slowburn</title>
</head>
<body>
<main>
<h1>${escapeText(title)}</h1>
${body}</main>
</body>
</html>
`;
}

/** GitHub's way: lower case, letters, digits, `-` and `_` kept, blanks to `-`, repeats numbered. */
function headingId(text: string, taken: Map<string, number>): string {
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
  const count = taken.get(base) ?? 0;
  taken.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

function linkTarget(href: string, { incident, grafanaUrl, idPrefix }: RunbookOccasion): string | null {
  if (idPrefix !== undefined && href.startsWith('#')) return `#${idPrefix}${href.slice(1)}`;
  const runbook = /^(?:\.\/)?([A-Za-z0-9_-]+)\.md(#.*)?$/.exec(href);
  const query = incident === null ? '' : `?incident=${incident}`;
  if (runbook !== null) return `/runbooks/${runbook[1]}${query}${runbook[2] ?? ''}`;
  if (/^(https?:|mailto:)/i.test(href)) return href;
  if (href.startsWith('../')) return dashboardTarget(href, grafanaUrl);
  return /^[a-z0-9+.-]*:/i.test(href) || href.startsWith('//') ? null : href;
}

/** A shipped dashboard in the Grafana that is named; other files of the package are not served. */
function dashboardTarget(href: string, grafanaUrl: string | null): string | null {
  const uid = /^\.\.\/dashboards\/([\w-]+)\.json$/.exec(href)?.[1];
  const place = Object.values(DASHBOARD).find((one) => one.uid === uid);
  return place === undefined || grafanaUrl === null ? null : dashboardUrl(grafanaUrl, place);
}
