/** What a command may touch; passed in, so that tests run commands without a process. */
export interface CommandIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdin: NodeJS.ReadableStream;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the package's own rules, runbooks and dashboards lie. */
  readonly packageDir: string;
  readonly version: string;
  /** stderr is a terminal: long work shows progress. */
  readonly interactive: boolean;
}

/** 0 fine, 1 findings or a miss, 2 usage, 3 could not start or I/O. */
export const EXIT = { fine: 0, findings: 1, usage: 2, failed: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
