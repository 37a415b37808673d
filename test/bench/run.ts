/** `npm run bench -- NAME [PART...]`: figures as JSON lines. Ratios within one run count; absolute figures depend on the machine. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): Promise<void> }>>> = {
  evaluate: () => import('./evaluate.ts'),
  ingest: () => import('./ingest.ts'),
  storm: () => import('./storm.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = BENCHES[name];
if (load === undefined) {
  process.stderr.write(`npm run bench -- NAME, one of: ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(2);
}
await (await load()).run(args);
