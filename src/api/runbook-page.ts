import { Marked, type Tokens } from 'marked';
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

/**
 * Renders a runbook. Markup inside the Markdown is shown, not obeyed; links that are neither http(s), mailto nor
 * relative lose their target; `[X](Other.md)` leads to the page of that runbook. Headings get the ids that links
 * use, and so do the steps of the first numbered list below each: `diagnosis-step-1`.
 */
export function renderRunbook(name: string, markdown: string): RunbookPage {
  const marked = new Marked({ gfm: true });
  const ids = new Map<string, number>();
  /** Id of the heading above; null before the first and once its steps have theirs. */
  let above: string | null = null;
  marked.use({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeText(text),
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = headingId(text, ids);
        above = id;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
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
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const target = linkTarget(href);
        return target === null ? inner : `<a href="${escapeText(target)}">${inner}</a>`;
      },
      image: ({ text }: Tokens.Image) => escapeText(text),
    },
  });
  const tokens = marked.lexer(markdown);
  const first = tokens.findIndex((token) => token.type !== 'space');
  const heading = tokens[first];
  const titled = heading?.type === 'heading' && heading['depth'] === 1;
  if (titled) tokens.splice(first, 1);
  return { name, title: titled ? String(heading['text']) : name, body: marked.parser(tokens) };
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

function linkTarget(href: string): string | null {
  const runbook = /^(?:\.\/)?([A-Za-z0-9_-]+)\.md(#.*)?$/.exec(href);
  if (runbook !== null) return `/runbooks/${runbook[1]}${runbook[2] ?? ''}`;
  if (/^(https?:|mailto:)/i.test(href)) return href;
  return /^[a-z0-9+.-]*:/i.test(href) || href.startsWith('//') ? null : href;
}
