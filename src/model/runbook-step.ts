/** A step of a runbook: where its page shows it, and what it asks in a few words. */
export interface RunbookStep {
  /** Id of the step on the page: that of its heading and its number. */
  readonly anchor: string;
  readonly text: string;
}

const WORDS_MAX = 140;
/** What the part is called that is read first; folders of one's own may call it the second. */
const HEADING = /^##\s+(first minutes|diagnosis)\s*#*\s*$/i;

/** The id of the n-th step (from 1) of the list under a heading. */
export const stepId = (headingId: string, step: number): string => `${headingId}-step-${step}`;

/**
 * The first step under First minutes (or Diagnosis) of a runbook in Markdown; null when there is no numbered list
 * under such a heading. A step is cut before its first command: on a phone one reads, and types nothing.
 */
export function firstStep(markdown: string): RunbookStep | null {
  const lines = markdown.replace(/^(```|~~~)[\s\S]*?^\1.*$/gm, '').split(/\r?\n/);
  const heading = lines.findIndex((line) => HEADING.test(line));
  if (heading === -1) return null;
  const id =
    HEADING.exec(lines[heading] ?? '')?.[1]
      ?.toLowerCase()
      .replace(/\s/g, '-') ?? '';
  const rest = lines.slice(heading + 1);
  const next = rest.findIndex((line) => /^#{1,6}\s/.test(line));
  const part = next === -1 ? rest : rest.slice(0, next);
  const start = part.findIndex((line) => /^\d+[.)]\s+\S/.test(line));
  if (start === -1) return null;
  const after = part.slice(start + 1);
  const end = after.findIndex((line) => line.trim() === '' || /^\s*([-*+]|\d+[.)])\s/.test(line));
  const item = [part[start]?.replace(/^\d+[.)]\s+/, ''), ...after.slice(0, end === -1 ? undefined : end)];
  const text = inWords(item.map((line) => line?.trim() ?? '').join(' '));
  return text === '' ? null : { anchor: stepId(id, 1), text };
}

/** Plain words of inline Markdown, without a final stop, cut at the first command or a length that a phone shows. */
function inWords(markdown: string): string {
  const plain = markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|__|(?<=^|\s)[*_](?=\S)|(?<=\S)[*_](?=\s|$)/g, '');
  const code = plain.indexOf('`');
  const before = plain
    .slice(0, code <= 0 ? undefined : code)
    .replaceAll('`', '')
    .replace(/\s*[:(,;]*\s*$/, '');
  const text = before.length <= WORDS_MAX ? before : `${before.slice(0, WORDS_MAX).replace(/\s+\S*$/, '')} ...`;
  return text.replace(/(?<!\.)\.$/, '').trim();
}
