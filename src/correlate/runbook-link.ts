/** Where a runbook is read: an absolute URL as it is, a name under the service's own /runbooks. */
export const runbookUrl = (runbook: string, baseUrl: string): string =>
  /^https?:\/\//.test(runbook) ? runbook : `${baseUrl}/runbooks/${encodeURIComponent(runbook)}`;
