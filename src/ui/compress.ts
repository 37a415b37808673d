import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

const compress = promisify(gzip);
/** Shorter ones fit into a packet as they are. */
const BYTES_MIN = 1400;

/** Pages and assets go out gzipped to who takes that. */
export function registerCompression(server: FastifyInstance): void {
  server.addHook('onSend', async (request, reply, payload) => {
    const accepts = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s|,|$))/.test(request.headers['accept-encoding'] ?? '');
    if (typeof payload !== 'string' || payload.length < BYTES_MIN) return payload;
    reply.header('vary', 'accept-encoding');
    if (!accepts) return payload;
    const body = await compress(payload);
    reply.header('content-encoding', 'gzip').header('content-length', body.length);
    return body;
  });
}
