import type { AccessToken, Address, OtlpConfig } from './config.ts';
import type { Report } from './report.ts';
import { isHttpUrl } from './resolve-receivers.ts';
import { booleanOf, child, items, numberOf, type Position, type SourceNode, textOf } from './source.ts';
import { reportDuplicates } from './validate.ts';

export interface Listen {
  readonly http: Address;
  readonly otlpHttp: Address;
  readonly otlpGrpc: Address;
}

export const DEFAULT_LISTEN: Listen = {
  http: { host: '127.0.0.1', port: 8080 },
  otlpHttp: { host: '127.0.0.1', port: 4318 },
  otlpGrpc: { host: '127.0.0.1', port: 4317 },
};

export const DEFAULT_IDENTITY_HEADER = 'x-slowburn-balancer';

/** As the OTLP specification has it. */
export const DEFAULT_OTLP: OtlpConfig = { path: '/v1/metrics', maxBytes: 64 * 1024 * 1024 };

const PORTS = ['http', 'otlpHttp', 'otlpGrpc'] as const;

/** `host:port` with an IPv4 address, a name or an IPv6 address in brackets; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9][A-Za-z0-9._-]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  return port > 65_535 ? undefined : { host: match[1] ?? match[2] ?? '', port };
}

/** Whether only this machine can reach an address. */
export const isLoopback = (host: string): boolean =>
  host.toLowerCase() === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The three addresses; one that others can reach needs a token or `insecure: true`. */
export function resolveListen(root: SourceNode, report: Report): Listen {
  const listen = child(root, 'listen');
  const open = booleanOf(child(root, 'insecure')) === true || items(child(root, 'tokens')).length > 0;
  const taken = new Map<string, string>();
  const resolved: Record<(typeof PORTS)[number], Address> = { ...DEFAULT_LISTEN };
  for (const name of PORTS) {
    const node = child(listen, name);
    if (node !== undefined) resolved[name] = resolveAddress(node, name, open, report) ?? DEFAULT_LISTEN[name];
    const { host, port } = resolved[name];
    const key = `${host}:${port}`;
    const other = taken.get(key);
    if (other !== undefined && port !== 0) {
      report.error((node ?? child(listen, other) ?? root).at, {
        code: 'CONFIG_LISTEN_TWICE',
        message: `listen.${name} and listen.${other} both take ${key}`,
        fix: 'give one of them another port; 0 takes a free one',
      });
    } else taken.set(key, name);
  }
  return resolved;
}

function resolveAddress(node: SourceNode, name: string, open: boolean, report: Report): Address | undefined {
  const text = textOf(node) ?? '';
  const address = parseAddress(text);
  if (address === undefined) {
    report.error(node.at, {
      code: 'CONFIG_LISTEN_INVALID',
      message: `listen.${name} ${JSON.stringify(text)} is not an address`,
      fix: /^:\d+$/.test(text)
        ? `name the host: 127.0.0.1${text}`
        : 'write host:port, for example 127.0.0.1:8080 or [::1]:8080',
    });
  } else if (!open && !isLoopback(address.host)) {
    report.error(node.at, {
      code: 'CONFIG_LISTEN_EXPOSED',
      message: `other machines can reach listen.${name} ${text} and nothing asks them for a token`,
      fix: 'add tokens, listen on 127.0.0.1, or write insecure: true if the network is trusted',
    });
  }
  return address;
}

/** The tokens; names and values must differ. */
export function resolveTokens(root: SourceNode, report: Report): readonly AccessToken[] {
  const nodes = items(child(root, 'tokens'));
  reportDuplicates(named(nodes, 'name'), 'token', report);
  const values = new Set<string>();
  return nodes.map((node) => {
    const value = textOf(child(node, 'value')) ?? '';
    if (values.has(value)) {
      report.error(child(node, 'value')?.at ?? node.at, {
        code: 'CONFIG_TOKEN_TWICE',
        message: 'two tokens have the same value',
        fix: 'make a new one for each: the value decides the role',
      });
    }
    values.add(value);
    return { name: textOf(child(node, 'name')) ?? '', role: role(textOf(child(node, 'role'))), value };
  });
}

const role = (text: string | undefined): AccessToken['role'] => (text === 'operate' || text === 'read' ? text : 'push');

const named = (nodes: readonly SourceNode[], key: string): readonly { name: string; at: Position }[] =>
  nodes.map((node) => ({ name: textOf(child(node, key)) ?? '', at: child(node, key)?.at ?? node.at }));

/** A URL that links start with, without a final slash; null where none is written. */
export function resolveBaseUrl(root: SourceNode, key: string, example: string, report: Report): string | null {
  const node = child(root, key);
  const text = textOf(node);
  if (node === undefined || text === undefined) return null;
  if (!isHttpUrl(text) || /[?#]/.test(text)) {
    report.error(node.at, {
      code: 'CONFIG_URL_INVALID',
      message: `${key} is not an absolute http or https URL`,
      fix: `write for example ${example}`,
    });
  }
  return text.replace(/\/+$/, '');
}

/** The lower-case name of the header that identifies a balancer. */
export function resolveIdentityHeader(root: SourceNode, report: Report): string {
  const node = child(root, 'identityHeader');
  const text = textOf(node);
  if (node === undefined || text === undefined) return DEFAULT_IDENTITY_HEADER;
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) {
    report.error(node.at, {
      code: 'CONFIG_VALUE_INVALID',
      message: `${JSON.stringify(text)} is not the name of an HTTP header`,
      fix: `write for example ${DEFAULT_IDENTITY_HEADER}`,
    });
  }
  return text.toLowerCase();
}

/** Where OTLP over HTTP is served and how large a request may be. */
export function resolveOtlp(root: SourceNode, report: Report): OtlpConfig {
  const otlp = child(root, 'otlp');
  const node = child(otlp, 'path');
  const path = textOf(node) ?? DEFAULT_OTLP.path;
  if (node !== undefined && !/^(\/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)+$/.test(path)) {
    report.error(node.at, {
      code: 'CONFIG_VALUE_INVALID',
      message: `otlp.path ${JSON.stringify(path)} is not the path of a URL`,
      fix: `write for example ${DEFAULT_OTLP.path}`,
    });
  }
  return { path, maxBytes: numberOf(child(otlp, 'maxBytes')) ?? DEFAULT_OTLP.maxBytes };
}
