import { parseArgs } from 'node:util';

/** `npm run fuzz -- NAME [--seconds N] [--seed N]`: exit code 1 on a miss. The seed is printed, and gives the same inputs. */
const FUZZERS: Readonly<
  Record<string, () => Promise<{ run(options: { seconds: number; seed: number }): Promise<boolean> }>>
> = {
  otlp: () => import('./otlp.ts'),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '120' }, seed: { type: 'string' } },
});
const load = FUZZERS[positionals[0] ?? ''];
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
if (load === undefined || !(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write(`npm run fuzz -- NAME [--seconds N] [--seed N], one of: ${Object.keys(FUZZERS).join(', ')}\n`);
  process.exit(2);
}
process.stdout.write(`seed ${seed}\n`);
const passed = await (await load()).run({ seconds, seed });
process.exit(passed ? 0 : 1);
