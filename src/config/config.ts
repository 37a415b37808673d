import type { MuteRules } from '../correlate/mute.ts';
import type { CorrelationSettings } from '../correlate/settings.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { HookRules } from '../model/hook.ts';
import type { Receiver, Route } from '../model/receiver.ts';
import type { TrafficStandard } from '../model/scorecard.ts';
import type { Slo } from '../slo/slo.ts';

export interface Address {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

export interface AccessToken {
  readonly name: string;
  readonly role: 'push' | 'read' | 'operate';
  readonly value: string;
}

/** slowburn.yaml, resolved: defaults filled in, paths absolute, secrets read. */
export interface ServiceConfig {
  readonly listen: { readonly http: Address; readonly otlpHttp: Address; readonly otlpGrpc: Address };
  readonly dataDir: string;
  readonly rulesDir: string | null;
  readonly runbooksDir: string;
  /** Where people reach the UI and the runbooks; links in messages start with it. Null = made from the HTTP address. */
  readonly externalUrl: string | null;
  /** Where people reach Grafana with the shipped dashboards. Null = dashboard links lead to slowburn's own pages. */
  readonly grafanaUrl: string | null;
  readonly insecure: boolean;
  readonly tokens: readonly AccessToken[];
  readonly receivers: readonly Receiver[];
  /** Header that names a balancer when its resource does not. */
  readonly identityHeader: string;
  readonly otlp: OtlpConfig;
}

export interface OtlpConfig {
  /** Path of OTLP over HTTP. */
  readonly path: string;
  /** Largest request, as received and again after decompression. */
  readonly maxBytes: number;
}

/** The rules folder over the shipped defaults, resolved. */
export interface Rules {
  readonly slos: readonly Slo[];
  readonly detectors: ReadonlyMap<string, DetectorSettings>;
  readonly correlation: CorrelationSettings;
  /** Inhibition and mute intervals, from correlation.yaml. */
  readonly mutes: MuteRules;
  /** From routes.yaml; receivers of slowburn.yaml come first where both exist. */
  readonly receivers: readonly Receiver[];
  readonly routes: readonly Route[];
  /** From hooks.yaml. */
  readonly hooks: HookRules;
  /** From scorecard.yaml. */
  readonly scorecard: TrafficStandard;
}

/** A finding of `check`: printed as `file:line:col CODE message, how to fix`. Lines and columns count from 1. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}
