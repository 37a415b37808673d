import type { Slo } from '../slo/slo.ts';
import type { Problem } from './config.ts';
import { createReport, type Report } from './report.ts';
import type { Position } from './source.ts';
import { nearest } from './suggest.ts';

/** An SLO and where its name stands, so that a second one of the same name can point at the first. */
export interface ResolvedSlo {
  readonly slo: Slo;
  readonly at: Position;
}

const RUNBOOK_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** Reports a runbook that nobody could open: a name without a file. Absolute http(s) URLs are taken as they are. */
export function checkRunbook(runbook: string, at: Position, known: ReadonlySet<string>, report: Report): void {
  if (/^https?:\/\/[^\s/]/.test(runbook) || known.has(runbook)) return;
  const near = nearest(runbook, known);
  const create = RUNBOOK_NAME.test(runbook) ? `create ${runbook}.md in the runbooks folder` : 'name a file without .md';
  report.error(at, {
    code: 'CONFIG_RUNBOOK_MISSING',
    message: `there is no runbook ${runbook}`,
    fix: near === undefined ? `${create}, or write an absolute URL` : `${create}, or did you mean ${near}?`,
  });
}

/** Keeps the first SLO of each id and reports every other one, naming both places. */
export function uniqueSlos(slos: readonly ResolvedSlo[], problems: Problem[]): readonly ResolvedSlo[] {
  const first = new Map<string, ResolvedSlo>();
  const documents = new Map<string, ResolvedSlo>();
  for (const entry of slos) {
    const { slo, at } = entry;
    const owner = documents.get(slo.name);
    const other = owner !== undefined && !sameDocument(owner, entry) ? owner : first.get(slo.id);
    if (other === undefined) {
      first.set(slo.id, entry);
      if (owner === undefined) documents.set(slo.name, entry);
    } else if (!sameDocument(other, entry)) {
      const place = `${other.slo.source.file}:${other.at.line}:${other.at.column}`;
      createReport(slo.source.file, problems).error(at, {
        code: 'CONFIG_SLO_DUPLICATE',
        message: `the SLO ${slo.name} is already defined at ${place}`,
        fix: 'give one of the two another metadata.name',
      });
    }
  }
  return [...first.values()];
}

const sameDocument = (a: ResolvedSlo, b: ResolvedSlo): boolean =>
  a.slo.source.file === b.slo.source.file && a.slo.source.line === b.slo.source.line;

/** The first receiver of each name; others are reported. */
export function reportDuplicates(
  named: readonly { readonly name: string; readonly at: Position }[],
  what: string,
  report: Report,
): void {
  const seen = new Map<string, Position>();
  for (const { name, at } of named) {
    const other = seen.get(name);
    if (other === undefined) seen.set(name, at);
    else
      report.error(at, {
        code: 'CONFIG_NAME_TWICE',
        message: `two ${what}s are called ${name}, the first in line ${other.line}`,
        fix: 'give one of them another name',
      });
  }
}
