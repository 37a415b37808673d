/**
 * A failure that a person or a peer can meet. `code` is stable, upper case, part first (CONFIG_..., OTLP_..., API_...),
 * and listed in docs/errors.md. `hint` says how to fix it. `retryable` is decided where the error is born.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: { hint?: string; retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
  }
}
