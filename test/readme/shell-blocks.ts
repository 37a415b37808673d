/** A command that goes on until it is stopped: what follows it in the README is for a second terminal. */
const STAYS = /^npm (start|run demo)\b/;

export interface ShellBlock {
  /** Line of the first command in the document, from 1. */
  readonly line: number;
  /** Commands that end, one script. */
  readonly script: string;
  /** The command at the end of the block that stays, if one does. */
  readonly stays: string | null;
}

/** The `sh` blocks of a document in their order; throws where something follows a command that stays. */
export function shellBlocks(markdown: string): readonly ShellBlock[] {
  const lines = markdown.split('\n');
  const blocks: ShellBlock[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at] !== '```sh') continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    blocks.push(blockOf(lines.slice(at + 1, end), at + 2));
    at = end;
  }
  return blocks;
}

function blockOf(lines: readonly string[], line: number): ShellBlock {
  const staying = lines.findIndex((one) => STAYS.test(one));
  if (staying < 0) return { line, script: lines.join('\n'), stays: null };
  if (staying !== lines.length - 1) throw new Error(`line ${line + staying}: what follows would never be run`);
  return { line, script: lines.slice(0, -1).join('\n'), stays: lines[staying] ?? null };
}
