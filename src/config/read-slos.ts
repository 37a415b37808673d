import { checkSchema } from './check-schema.ts';
import type { Problem } from './config.ts';
import { DocumentSchema, SloSchema } from './openslo-schema.ts';
import { readDocuments, START } from './read-rules.ts';
import { createReport, hasErrors, type Report } from './report.ts';
import { resolveSlo, type SloContext } from './resolve-slo.ts';
import { child, type SourceDocument, textOf } from './source.ts';
import { chooseFrom } from './suggest.ts';
import { type ResolvedSlo, uniqueSlos } from './validate.ts';

const OPENSLO_VERSION = 'openslo/v1';

/** Kinds of OpenSLO v1 that are accepted, and why they are not used; null = nothing is lost by that. */
const OTHER_KINDS: ReadonlyMap<string, string | null> = new Map([
  ['Service', null],
  ['AlertPolicy', 'what pages follows the annotation slowburn/policy of each SLO'],
  ['AlertCondition', 'what pages follows the annotation slowburn/policy of each SLO'],
  ['AlertNotificationTarget', 'name receivers in routes.yaml'],
  ['DataSource', 'write metricSource: { type: slowburn, ... } in the SLO'],
  ['SLI', 'write the indicator inside the SLO'],
]);

/**
 * The SLOs of all files, in the order of the files; ids are unique. A document with an error is reported and left
 * out.
 */
export function readSlos(files: readonly string[], context: SloContext, problems: Problem[]): readonly ResolvedSlo[] {
  const found: ResolvedSlo[] = [];
  for (const file of files) {
    const report = createReport(file, problems);
    const before = problems.length;
    const documents = readDocuments(file, problems);
    if (documents.length === 0 && problems.length === before) {
      report.warning(START, {
        code: 'CONFIG_FILE_EMPTY',
        message: 'the file holds no SLO',
        fix: 'add one, or remove the file',
      });
    }
    for (const document of documents) {
      const start = problems.length;
      const slos = readDocument(document, context, report);
      if (!hasErrors(problems.slice(start))) found.push(...slos);
    }
  }
  return uniqueSlos(found, problems);
}

function readDocument(document: SourceDocument, context: SloContext, report: Report): readonly ResolvedSlo[] {
  const { root } = document;
  const kind = child(root, 'kind');
  const name = textOf(kind);
  if (name !== 'SLO' && !checkSchema(DocumentSchema, document, report)) return [];
  if (!isSupportedVersion(document, report)) return [];
  if (name === 'SLO') return checkSchema(SloSchema, document, report) ? resolveSlo(root, context, report) : [];
  const unused = OTHER_KINDS.get(name ?? '');
  if (unused === undefined) {
    report.error(kind?.at ?? root.at, {
      code: 'CONFIG_KIND_UNKNOWN',
      message: `unknown kind ${name ?? ''}`,
      fix: chooseFrom(name ?? '', ['SLO', ...OTHER_KINDS.keys()]),
    });
  } else if (unused !== null) {
    report.warning(kind?.at ?? root.at, {
      code: 'CONFIG_UNUSED',
      message: `${name} documents are not used`,
      fix: unused,
    });
  }
  return [];
}

function isSupportedVersion(document: SourceDocument, report: Report): boolean {
  const node = child(document.root, 'apiVersion');
  const version = textOf(node);
  // A missing version is the schema's finding.
  if (node === undefined || version === undefined || version === OPENSLO_VERSION) return true;
  report.error(node.at, {
    code: 'CONFIG_API_VERSION',
    message: `apiVersion ${version} is not supported`,
    fix: `write apiVersion: ${OPENSLO_VERSION}`,
  });
  return false;
}
