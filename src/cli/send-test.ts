import { sendTest } from '../app/send-test.ts';
import { systemClock } from '../app/system-clock.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { Receiver } from '../model/receiver.ts';

/**
 * `slowburn check --send-test RECEIVER`: says on stdout what the receiver made of it. Returns the exit code: 0 taken, 1
 * not taken, 2 no such receiver.
 */
export async function runSendTest(
  name: string,
  receivers: readonly Receiver[],
  config: ServiceConfig,
  io: { stdout(text: string): void; stderr(text: string): void },
): Promise<number> {
  const receiver = receivers.find((one) => one.name === name);
  if (receiver === undefined) {
    const known = receivers.map((one) => one.name).join(', ');
    io.stderr(
      `slowburn check: there is no receiver ${name}; ${known === '' ? 'there is none at all' : `there are ${known}`}\n`,
    );
    return 2;
  }
  const { host, port } = config.listen.http;
  const steps = await sendTest(
    receiver,
    systemClock,
    config.externalUrl ?? `http://${host}:${port}`,
    config.grafanaUrl,
  );
  for (const { what, text } of steps) io.stdout(`${name} (${receiver.type}), ${what}: ${text}\n`);
  return steps.every(({ ok }) => ok) ? 0 : 1;
}
