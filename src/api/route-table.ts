/** The registered routes, as needed to tell "no such path" from "not with this method". */
export interface RouteTable {
  add(method: string | readonly string[], pattern: string): void;
  /** Methods that exist for a path, sorted; empty when the path does not exist. */
  methodsOf(path: string): readonly string[];
  /** `METHOD /pattern`, sorted, HEAD left out. */
  list(): readonly string[];
}

export function createRouteTable(): RouteTable {
  const routes: { readonly method: string; readonly pattern: string; readonly segments: readonly string[] }[] = [];
  return {
    add(method, pattern) {
      for (const one of typeof method === 'string' ? [method] : method) {
        routes.push({ method: one, pattern, segments: pattern.split('/') });
      }
    },
    methodsOf(path) {
      const segments = path.split('/');
      const found = routes.filter((route) => fits(route.segments, segments)).map((route) => route.method);
      return [...new Set(found)].sort();
    },
    list: () =>
      routes
        .filter(({ method }) => method !== 'HEAD')
        .map(({ method, pattern }) => `${method} ${pattern}`)
        .sort(),
  };
}

/** `:name` stands for one segment that is not empty, `*` for all that follow. */
function fits(pattern: readonly string[], path: readonly string[]): boolean {
  const star = pattern.indexOf('*');
  if (star === -1 && pattern.length !== path.length) return false;
  const compared = star === -1 ? pattern : pattern.slice(0, star);
  return compared.every((part, index) => (part.startsWith(':') ? path[index] !== '' : part === path[index]));
}
