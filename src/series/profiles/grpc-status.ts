/** gRPC status codes by their number. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** Those that OpenTelemetry's conventions call errors of the server; the others are the caller's. */
const SERVER_ERRORS: ReadonlySet<string> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
]);

/** `UNAVAILABLE` for `14` and `UNAVAILABLE`; undefined for what is no status. */
export function grpcStatus(written: string | undefined): string | undefined {
  if (written === undefined || written === '') return undefined;
  const name = /^\d+$/.test(written) ? NAMES[Number(written)] : NAMES.find((known) => known === written);
  return name;
}

/** The response class that a status stands for: `2xx`, `5xx` where the server failed, else `4xx`. */
export function grpcClass(status: string): string {
  if (status === 'OK') return '2xx';
  return SERVER_ERRORS.has(status) ? '5xx' : '4xx';
}
