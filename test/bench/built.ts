import { type ChildProcess, fork } from 'node:child_process';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const PACKAGE = join(import.meta.dirname, '..', '..');
const OUT = join(PACKAGE, 'node_modules', '.cache', 'slowburn-bench');

/**
 * Starts a child of the bench as plain JavaScript over the product as it is built, without a loader: a loader gives
 * buffers away to its thread, and from then on V8 checks at each access to any typed array whether its buffer is there.
 */
export async function forkBuilt(file: string, args: readonly string[], execArgv: readonly string[] = []) {
  const outfile = join(OUT, basename(file).replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    define: { 'import.meta.dirname': JSON.stringify(join(PACKAGE, 'test', 'bench')) },
    plugins: [{ name: 'built', setup: (context) => context.onResolve({ filter: /\/src\/.*\.ts$/ }, built) }],
  });
  return fork(outfile, [...args], { execArgv: [...execArgv], stdio: 'inherit' }) satisfies ChildProcess;
}

function built({ path }: { readonly path: string }) {
  const [, inside = ''] = /\/src\/(.*)\.ts$/.exec(path) ?? [];
  return { path: join(PACKAGE, 'dist', `${inside}.js`), external: true };
}
