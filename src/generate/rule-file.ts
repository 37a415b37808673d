/** A rule file as plain data; the edge writes it as YAML. Key order is the order in the file. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly interval: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

export interface RuleFile {
  /** File name without folder. */
  readonly name: string;
  /** Lines of the comment at its head. */
  readonly comment: readonly string[];
  readonly groups: readonly RuleGroup[];
}

export const isAlerting = (rule: RecordingRule | AlertingRule): rule is AlertingRule => 'alert' in rule;
