/** `npm run bench -- NAME`: figures as JSON lines. Ratios within one run count; absolute figures depend on the machine. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  evaluate: () => import('./evaluate.ts'),
  ingest: () => import('./ingest.ts'),
};

const [name = ''] = process.argv.slice(2);
const load = BENCHES[name];
if (load === undefined) {
  process.stderr.write(`npm run bench -- NAME, one of: ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(2);
}
await (await load()).run();
