/** Where a runbook is read: an absolute URL as it is, a name under the service's own /runbooks. */
export const runbookUrl = (runbook: string, baseUrl: string): string =>
  /^https?:\/\//.test(runbook) ? runbook : `${baseUrl}/runbooks/${encodeURIComponent(runbook)}`;

/** The same, with its blanks filled in from an incident where it is one of ours; `anchor` without `#`. */
export function runbookUrlFor(runbook: string, baseUrl: string, incident: number, anchor: string | null): string {
  const url = runbookUrl(runbook, baseUrl);
  if (url === runbook) return url;
  return `${url}?incident=${incident}${anchor === null ? '' : `#${anchor}`}`;
}
