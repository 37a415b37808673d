/** `npm run simulate -- NAME [options]`: long runs over seeded random traffic. Exit 1 if a figure misses its limit. */
const SIMULATIONS: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): number | Promise<number> }>>> =
  {
    'false-alarms': () => import('./false-alarms.ts'),
    ingest: () => import('./ingest.ts'),
    policy: () => import('./policy.ts'),
  };

const [name = '', ...args] = process.argv.slice(2);
const load = SIMULATIONS[name];
if (load === undefined) {
  process.stderr.write(`npm run simulate -- NAME, one of: ${Object.keys(SIMULATIONS).join(', ')}\n`);
  process.exit(2);
}
process.exitCode = await (await load()).run(args);
