import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A cumulative series: its labels, and its value at a moment in seconds; null where it has none. */
export interface FakeSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly valueAt: (seconds: number) => number | null;
}

export interface FakePrometheus {
  readonly url: string;
  readonly queries: URLSearchParams[];
  /** Closes the connection of the next query without an answer. */
  dropNext(): void;
  dropped(): number;
  close(): Promise<void>;
}

/** Answers range queries of plain selectors, as a Prometheus server does, without a look-back. */
export async function startFakePrometheus(series: readonly FakeSeries[]): Promise<FakePrometheus> {
  const queries: URLSearchParams[] = [];
  let [toDrop, dropped] = [0, 0];
  const server = createServer(async (request, response) => {
    if (toDrop > dropped) {
      dropped += 1;
      request.socket.destroy();
      return;
    }
    const form = new URLSearchParams(await bodyOf(request));
    queries.push(form);
    const [from, to, step] = ['start', 'end', 'step'].map((name) => Number(form.get(name))) as [number, number, number];
    const steps = (to - from) / step + 1;
    const answer =
      request.url !== '/api/v1/query_range' || steps > 11_000
        ? { status: 'error', errorType: 'bad_data', error: 'exceeded maximum resolution' }
        : {
            status: 'success',
            data: { resultType: 'matrix', result: select(series, form.get('query') ?? '', from, to, step) },
          };
    response.writeHead(answer.status === 'success' ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    queries,
    dropNext: () => {
      toDrop += 1;
    },
    dropped: () => dropped,
    close: () => new Promise((done) => server.close(() => done())),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function select(series: readonly FakeSeries[], query: string, from: number, to: number, step: number) {
  const [, name = '', inner = ''] = /^(\w+)\{(.*)\}$/s.exec(query) ?? [];
  const tests = [...inner.matchAll(/(\w+)(=~|!=|=)("(?:[^"\\]|\\.)*")/g)].map(
    ([, label = '', operator, quoted = '']) => {
      const value = JSON.parse(quoted) as string;
      const pattern = new RegExp(`^(?:${operator === '=~' ? value : ''})$`);
      return (labels: Readonly<Record<string, string>>): boolean => {
        const found = labels[label] ?? '';
        return operator === '=~' ? pattern.test(found) : (found === value) === (operator === '=');
      };
    },
  );
  return series
    .filter(({ labels }) => labels['__name__'] === name && tests.every((test) => test(labels)))
    .map(({ labels, valueAt }) => {
      const values: [number, string][] = [];
      for (let at = from; at <= to; at += step) {
        const value = valueAt(at);
        if (value !== null) values.push([at, String(value)]);
      }
      return { metric: labels, values };
    })
    .filter(({ values }) => values.length > 0);
}
