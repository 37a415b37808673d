import { createHmac } from 'node:crypto';
import type { FeatureView } from '../aggregate/features.ts';
import type { Clock } from '../base/clock.ts';
import { DAY, type EpochMs, earlier } from '../base/units.ts';
import { attachmentOf, callText, readHookAnswer, toHookMessage } from '../hook/message.ts';
import { type Pool, planHooks } from '../hook/plan.ts';
import type { Hook, HookCall, HookRules } from '../model/hook.ts';
import type { Incident } from '../model/incident.ts';
import { type Answer, type Post, post as postJson } from '../notify/http.ts';
import type { IncidentStore } from '../store/store.ts';
import type { Evaluator, HookStep } from './evaluate.ts';
import { poolsOf } from './pools.ts';

/** Calls that can still bound others; more than any `perHost` or `every`. */
const KEPT = DAY;
const ERROR_TEXT_MAX = 200;

export interface HooksDeps {
  readonly rules: HookRules;
  readonly evaluator: Pick<Evaluator, 'incidents' | 'firing' | 'mutes' | 'recordHooks'>;
  readonly store: Pick<IncidentStore, 'hookCalls' | 'hookCallsSince'>;
  readonly features: FeatureView;
  readonly clock: Clock;
  readonly baseUrl: () => string;
  readonly onError: (error: unknown) => void;
  /** Over HTTP unless given. */
  readonly post?: (request: Post) => Promise<Answer>;
  /** From telemetry unless given. */
  readonly pools?: (now: EpochMs) => ReadonlyMap<string, Pool>;
}

export interface Hooks {
  /** Takes up what was called before; what was under way then is unknown now. Call once, before any tick. */
  restore(): void;
  /** What fires now may call a hook; called after each tick that was committed. Calls are on their way then. */
  evaluated(now: EpochMs): void;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
  /** Ends what is under way, without an answer: after the next start it is unknown. */
  stop(): Promise<void>;
}

/**
 * Calls hooks. A call is on disk, with its line in the timeline, before it is made, and is made once: one that no
 * answer came to is never repeated by itself, and counts like any other.
 */
export function createHooks(deps: HooksDeps): Hooks {
  const post = deps.post ?? postJson;
  const byName = new Map(deps.rules.map((hook) => [hook.name, hook]));
  const calls = new Map<string, HookCall>();
  const inFlight = new Set<Promise<void>>();
  const abort = new AbortController();

  const record = (changed: readonly HookCall[], now: EpochMs): void => {
    for (const call of changed) calls.set(call.id, call);
    const steps = changed.map((call): HookStep => ({ call, note: callText(call), attachment: attachmentOf(call) }));
    if (steps.length > 0) deps.evaluator.recordHooks(steps, now);
  };

  /** What the disk refused is kept, and tried again at the next tick. */
  const finish = (call: HookCall): void => {
    try {
      record([call], deps.clock.now());
    } catch (error) {
      // The evaluator keeps the commit and writes it before the next one.
      deps.onError(error);
    }
  };

  const call = async (hook: Hook, planned: HookCall, body: string): Promise<void> => {
    const headers: Record<string, string> = { 'idempotency-key': planned.id };
    const { url, secret } = hook;
    if (secret !== null) {
      headers['x-slowburn-signature'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    }
    const secrets = secret === null ? [] : [secret];
    const answer = await post({ url, body, headers, signal: abort.signal, secrets, wantsText: true });
    if (abort.signal.aborted) return;
    finish(answeredCall(planned, answer, deps.clock.now()));
  };

  const start = (planned: HookCall, incidents: readonly Incident[]): void => {
    const hook = byName.get(planned.hook);
    const incident = incidents.find(({ id }) => id === planned.incident);
    const alert = incident?.members.find((member) => member.alert.key === planned.alert)?.alert;
    if (hook === undefined || incident === undefined || alert === undefined) return;
    const body = toHookMessage(hook, planned, incident, alert, `${deps.baseUrl()}/incidents/${incident.id}`);
    const calling = call(hook, planned, body)
      .catch((error: unknown) => deps.onError(error))
      .finally(() => inFlight.delete(calling));
    inFlight.add(calling);
  };

  const forget = (now: EpochMs, incidents: readonly Incident[]): void => {
    const held = new Set(incidents.map(({ id }) => id));
    for (const { id, at, incident } of calls.values()) {
      if (at < earlier(now, KEPT) && !held.has(incident)) calls.delete(id);
    }
  };

  return {
    restore() {
      const now = deps.clock.now();
      for (const one of deps.store.hookCallsSince(earlier(now, KEPT))) calls.set(one.id, one);
      for (const { id } of deps.evaluator.incidents()) {
        for (const one of deps.store.hookCalls(id)) calls.set(one.id, one);
      }
      const under = [...calls.values()].filter(({ state }) => state === 'calling');
      const unknown = under.map(
        (one): HookCall => ({
          ...one,
          state: 'unknown',
          reason: `${one.reason}; slowburn stopped while it was under way: it may have arrived, and is not repeated`,
          endedAt: now,
        }),
      );
      try {
        record(unknown, now);
      } catch (error) {
        // A disk that refuses just now keeps nobody from starting; the evaluator writes it with its next commit.
        deps.onError(error);
      }
    },

    evaluated(now) {
      if (deps.rules.length === 0 || abort.signal.aborted) return;
      const incidents = deps.evaluator.incidents();
      const planned = planHooks(deps.rules, {
        now,
        incidents,
        firing: deps.evaluator.firing(),
        mutesOf: deps.evaluator.mutes(now),
        balancers: () => deps.features.balancers(now),
        pools: () => deps.pools?.(now) ?? poolsOf(deps.features, now),
        calls: [...calls.values()],
      });
      forget(now, incidents);
      try {
        record(planned, now);
      } catch (error) {
        // Nothing that is not on disk is called. The evaluator writes it before anything else; then it is known.
        for (const one of planned) if (one.state === 'calling') finish(notCalled(one, now));
        deps.onError(error);
        return;
      }
      for (const one of planned) if (one.state === 'calling') start(one, incidents);
    },

    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    async stop() {
      abort.abort();
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

const notCalled = (call: HookCall, now: EpochMs): HookCall => ({
  ...call,
  state: 'failed',
  reason: `${call.reason}; it was not called, since that could not be written down first`,
  endedAt: now,
});

function answeredCall(call: HookCall, answer: Answer, now: EpochMs): HookCall {
  const ended = (state: 'done' | 'failed', words: string, link: string | null = null): HookCall => ({
    ...call,
    state,
    reason: `${call.reason}; ${words}`,
    link,
    endedAt: now,
  });
  if (answer.kind === 'failed') return ended('failed', `no answer: ${answer.error.slice(0, ERROR_TEXT_MAX)}`);
  const { status, text } = answer;
  if (status < 200 || status >= 300) {
    return ended('failed', `answered ${status}${text === '' ? '' : `: ${text.slice(0, ERROR_TEXT_MAX)}`}`);
  }
  const { link, note } = readHookAnswer(text);
  return ended(
    'done',
    [`answered ${status}`, note, link ?? 'without a link'].filter((part) => part !== null).join(', '),
    link,
  );
}
