import { type CommandIo, EXIT, type ExitCode } from './io.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
const TIMEOUT_MS = 30_000;

/** A running slowburn, by its HTTP API. Throws ApiFailure. */
export interface ApiClient {
  get<T>(path: string): Promise<T>;
  send<T>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<T>;
}

/** It refused (what was asked does not fit) or could not be reached. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * `url` as given, else SLOWBURN_URL, else this machine. The token is that of SLOWBURN_TOKEN: on a command line others
 * could read it.
 */
export function createApiClient(url: string | null, { env, version }: CommandIo): ApiClient {
  const base = (url ?? env['SLOWBURN_URL'] ?? DEFAULT_URL).replace(/\/+$/, '');
  const token = env['SLOWBURN_TOKEN'];
  const headers: Record<string, string> = { 'user-agent': `slowburn/${version}`, accept: 'application/json' };
  if (token !== undefined && token !== '') headers['authorization'] = `Bearer ${token}`;

  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    let answer: Response;
    try {
      answer = await fetch(`${base}${path}`, {
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      const cause = (error as { cause?: Error }).cause ?? (error as Error);
      throw new ApiFailure(`${base} does not answer: ${cause.message || 'no connection'}`, EXIT.failed);
    }
    const text = await answer.text();
    if (!answer.ok) throw failureOf(answer.status, text, token !== undefined);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ApiFailure(`${base} is no slowburn: it answered with something else than JSON`, EXIT.failed);
    }
  };
  return {
    get: (path) => ask('GET', path),
    send: (method, path, body) => ask(method, path, body),
  };
}

function failureOf(status: number, text: string, hasToken: boolean): ApiFailure {
  let detail = `it answered ${status}`;
  try {
    const problem = JSON.parse(text) as { code?: string; detail?: string };
    if (problem.detail !== undefined) detail = `${problem.code ?? status} ${problem.detail}`;
  } catch {
    // Not one of our answers; the status has to do.
  }
  if (status === 401 && !hasToken) return new ApiFailure(`${detail} Put it into SLOWBURN_TOKEN.`, EXIT.failed);
  return new ApiFailure(detail, status >= 500 || status === 401 || status === 403 ? EXIT.failed : EXIT.findings);
}

/** Runs what talks to the API, and tells a failure of it on stderr. */
export async function withApi(
  url: string | null,
  io: CommandIo,
  work: (client: ApiClient) => Promise<void>,
): Promise<ExitCode> {
  try {
    await work(createApiClient(url, io));
    return EXIT.fine;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    io.stderr(`${error.message}\n`);
    return error.exitCode;
  }
}
