import type { Rules } from './config.ts';
import type { PolicyBook } from './policies.ts';

/** An SLO that a policy cannot be used for, and why. */
export interface Unusable {
  readonly slo: string;
  readonly reason: string;
}

/**
 * The same rules with one policy for every SLO that `applies` names; the others, and those that the policy cannot be used
 * for, are left out.
 */
export function forcePolicy(
  rules: Rules,
  policies: PolicyBook,
  name: string,
  applies: (slo: string) => boolean = () => true,
): { readonly rules: Rules; readonly unusable: readonly Unusable[] } {
  const unusable: Unusable[] = [];
  const slos = rules.slos.flatMap((slo) => {
    if (!applies(slo.id)) return [];
    const built = policies.build(name, slo.window.length, slo.objective.target, slo.budgeting);
    if (built.kind === 'policy') return [{ ...slo, policy: built.policy }];
    const reason = built.kind === 'unreachable' ? built.reasons.join('; ') : 'there is no such policy';
    unusable.push({ slo: slo.id, reason });
    return [];
  });
  return { rules: { ...rules, slos }, unusable };
}
