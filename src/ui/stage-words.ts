import type { StageFidelity, StageName } from '../model/stages.ts';

/** Stages, and how faithfully a balancer tells them, in words. */
export const STAGE_WORDS: Readonly<Record<StageName, string>> = {
  accept_queue: 'accept queue',
  tls: 'TLS handshake',
  connect: 'connect',
  backend: 'backend',
  write: 'write',
};

export const FIDELITY_WORDS: Readonly<Record<StageFidelity, string>> = {
  exact: 'exact',
  includes_tls: 'with the TLS handshake in it',
  whole_response: 'until the last byte, not the first',
  includes_queue_and_retries: 'with queueing and retries in it',
  average_only: 'averages only, no percentiles',
  proxy_signal: 'indirect signs only, no times',
  absent: 'not reported',
};

/** Colour and dash of each stage's line. */
export const STAGE_LOOKS: Readonly<Record<StageName, string>> = {
  accept_queue: 'a',
  tls: 'b',
  connect: 'c',
  backend: 'd',
  write: 'e',
};
