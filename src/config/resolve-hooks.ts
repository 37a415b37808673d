import { HOUR, MINUTE, type Ms, ms, SECOND } from '../base/units.ts';
import { ALERT } from '../model/conventions.ts';
import type { CAPTURES, CaptureHook, Hook, HookRules, HookTarget, RemediateHook } from '../model/hook.ts';
import { alertNames } from './alert-names.ts';
import type { Report } from './report.ts';
import { isHttpUrl } from './resolve-receivers.ts';
import { resolveDuration } from './resolve-window.ts';
import { child, items, numberOf, type SourceNode, textOf } from './source.ts';
import { reportDuplicates } from './validate.ts';

const MEGABYTE = 1_048_576;
/** Bounds that no file may loosen. */
const POOL_SHARE_MAX = 0.1;
const PER_HOST_MIN = HOUR;
const PER_HOST_MAX = ms(24 * HOUR);

/**
 * A hooks.yaml that has passed its schema: what is left out is bounded as the docs say, and no bound may be looser than
 * the fixed ones. `offline` does not ask for sound URLs: their secrets were not read.
 */
export function resolveHooks(root: SourceNode, report: Report, offline = false): HookRules {
  const captures = items(child(root, 'capture'));
  const remedies = items(child(root, 'remediate'));
  reportDuplicates(
    [...captures, ...remedies].map((node) => ({
      name: textOf(child(node, 'name')) ?? '',
      at: child(node, 'name')?.at ?? node.at,
    })),
    'hook',
    report,
  );
  const hooks: Hook[] = [
    ...captures.map((node) => resolveCapture(node, report, offline)),
    ...remedies.map((node) => resolveRemedy(node, report, offline)),
  ];
  return hooks;
}

function resolveCapture(node: SourceNode, report: Report, offline: boolean): CaptureHook {
  return {
    kind: 'capture',
    ...resolveTarget(node, report, offline),
    what: (textOf(child(node, 'what')) ?? 'packets') as (typeof CAPTURES)[number],
    balancers: items(child(node, 'balancers')).map((item) => textOf(item) ?? ''),
    maxBalancers: numberOf(child(node, 'maxBalancers')) ?? 3,
    maxDuration: boundedDuration(
      node,
      'maxDuration',
      { least: SECOND, most: ms(5 * MINUTE), usual: ms(30 * SECOND) },
      report,
    ),
    maxBytes: numberOf(child(node, 'maxBytes')) ?? 16 * MEGABYTE,
    every: boundedDuration(node, 'every', { least: MINUTE, most: PER_HOST_MAX, usual: HOUR }, report),
    maxPerHour: numberOf(child(node, 'maxPerHour')) ?? 6,
  };
}

function resolveRemedy(node: SourceNode, report: Report, offline: boolean): RemediateHook {
  const poolShare = child(node, 'poolShare');
  const share = numberOf(poolShare) ?? POOL_SHARE_MAX;
  if (poolShare !== undefined && !(share > 0 && share <= POOL_SHARE_MAX)) {
    report.error(poolShare.at, {
      code: 'CONFIG_HOOK_BOUND',
      message: `poolShare ${share} would let more than a tenth of a pool be replaced at once`,
      fix: `write a share above 0 and at most ${POOL_SHARE_MAX}`,
    });
  }
  const notWhile = child(node, 'notWhile');
  return {
    kind: 'remediate',
    ...resolveTarget(node, report, offline),
    perHost: boundedDuration(node, 'perHost', { least: PER_HOST_MIN, most: PER_HOST_MAX, usual: PER_HOST_MIN }, report),
    poolShare: share,
    notWhile: notWhile === undefined ? [ALERT.healthCheckCascade] : alertNames(items(notWhile), report),
  };
}

function resolveTarget(node: SourceNode, report: Report, offline: boolean): HookTarget {
  const url = child(node, 'url');
  if (!offline && url !== undefined && !isHttpUrl(textOf(url) ?? '')) {
    report.error(url.at, {
      code: 'CONFIG_URL_INVALID',
      message: 'the url of a hook is not an absolute http or https URL',
      fix: 'write for example http://127.0.0.1:9000/capture',
    });
  }
  return {
    name: textOf(child(node, 'name')) ?? '',
    url: textOf(url) ?? '',
    secret: textOf(child(node, 'secret')) ?? null,
    alerts: alertNames(items(child(node, 'alerts')), report),
  };
}

interface Bound {
  readonly least: Ms;
  readonly most: Ms;
  readonly usual: Ms;
}

function boundedDuration(node: SourceNode, key: string, { least, most, usual }: Bound, report: Report): Ms {
  const at = child(node, key);
  const duration = resolveDuration(at, key, report);
  if (at === undefined || duration === undefined) return usual;
  if (duration >= least && duration <= most) return duration;
  report.error(at.at, {
    code: 'CONFIG_HOOK_BOUND',
    message: `${key} ${textOf(at) ?? ''} is out of bounds`,
    fix: `write ${least / SECOND}s to ${most / SECOND}s`,
  });
  return usual;
}
