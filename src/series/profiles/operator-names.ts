/** Listeners, entry points, proxies and zones that serve operators and health checks, no clients. */
const OPERATOR_NAMES = /^(admin|stats|status|metrics|prometheus|ping|health(_?checks?|z)?)$/i;

export const isOperatorName = (name: string | undefined): boolean => name !== undefined && OPERATOR_NAMES.test(name);
