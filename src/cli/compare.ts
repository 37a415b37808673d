import type { ComparisonView } from '../model/views.ts';
import { withApi } from './api-client.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

export interface CompareOptions {
  readonly url: string | null;
  readonly json: boolean;
  /** Parameters of GET /api/v1/compare. */
  readonly query: Readonly<Record<string, string | undefined>>;
}

/** Prints a comparison; exit code 1 unless side a is no worse, so that a rollout can wait for it. */
export async function runCompare({ url, json, query }: CompareOptions, io: CommandIo): Promise<ExitCode> {
  let verdict: ComparisonView['verdict'] | null = null;
  const code = await withApi(url, io, async (client) => {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const found = await client.get<ComparisonView>(`/api/v1/compare?${new URLSearchParams(given)}`);
    verdict = found.verdict;
    io.stdout(json ? `${JSON.stringify(found)}\n` : comparisonText(found));
  });
  return code === EXIT.fine && verdict !== 'no_worse' ? EXIT.findings : code;
}

function comparisonText({ verdict, reason, deltas, sample, fault, exposure, drops }: ComparisonView): string {
  const lines = [
    `${verdict.replace('_', ' ')}: ${reason}`,
    ...deltas.map(({ measure, against, value, other, worse }) => {
      return `  ${measure} ${figure(value)}, ${against} ${figure(other)}: ${worse ? 'worse' : 'no worse'}`;
    }),
    `sample: ${sample.requests} requests beside ${sample.otherRequests}; rarest fault seen ${figure(sample.rarestFault)}`,
    `a fault of ${figure(fault.rate)} needs ${fault.requestsNeeded ?? 'more than any number of'} requests`,
  ];
  if (exposure !== null) {
    const share = `${Number((exposure.share * 100).toPrecision(3))} %`;
    lines.push(`exposed: ${exposure.balancers} of ${exposure.of} balancers (${share}) in ${exposure.batches} batches`);
  }
  if (drops !== null) lines.push(`copies dropped: ${drops.dropped} of ${drops.copies} (${figure(drops.share)})`);
  return `${lines.join('\n')}\n`;
}

const figure = (value: number): string => String(Number(value.toPrecision(3)));
