import type { Severity } from './alert.ts';
import type { Matcher } from './matcher.ts';

/** Where notifications go. More types join as they come to exist. */
export type Receiver = {
  readonly name: string;
  readonly type: 'webhook';
  readonly url: string;
  /** Key of the HMAC-SHA256 signature header; null = unsigned. */
  readonly secret: string | null;
  readonly sendResolved: boolean;
};

/** Chooses receivers: every route that matches sends. Without routes everything goes to the first receiver. */
export interface Route {
  readonly receiver: string;
  /** Empty = both. */
  readonly severity: readonly Severity[];
  /** On the labels of the lead alert and `alertname`, `owner`, `service`. */
  readonly matchers: readonly Matcher[];
}
