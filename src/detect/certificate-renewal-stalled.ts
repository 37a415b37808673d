import type { CertificateReading } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';
import type { Evidence, Severity } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { namesText } from './regions.ts';
import type { DetectorSettings } from './settings.ts';

const DAY_MS = 86_400_000;
/** Automation that renews at the first limit gets a day for it. */
const GRACE_MS = DAY_MS;
/** With less left when first seen it is taken as one that lives for hours, as workload certificates do. */
const SHORT_LIVED_MS = 2 * DAY_MS;

/**
 * A certificate ends soon and nothing has renewed it. The days left alone repeat the automation's own schedule, so where
 * renewals can be seen their absence decides; where nothing is known of them yet, the days must.
 */
export const certificateRenewalStalled: Detector = {
  name: ALERT.certificateRenewalStalled,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    if (view.watermark(now) === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const cleared = new Set<string>();
    for (const [name, readings] of byName(view.certificates(now))) {
      const key = labelsKey(identityOf(name));
      const heard = readings.filter(({ stale }) => !stale);
      const [soonest] = [...heard].sort((a, b) => a.notAfter - b.notAfter);
      if (soonest === undefined) continue;
      const limits = limitsOf(soonest, settings);
      const severity = judge(soonest, limits, now, firingSince.has(key), settings);
      if (severity !== null) holding.push(toFinding(soonest, heard, severity, limits, now));
      // What a silent balancer serves may be the old certificate still.
      else if (heard.length === readings.length) cleared.add(key);
    }
    // A certificate that heard balancers serve no longer is no danger any more.
    const known = new Set(view.certificates(now).map(({ name }) => labelsKey(identityOf(name))));
    const isAllHeard = view.balancers(now).every(({ stale }) => !stale);
    const isOpen = (key: string): boolean => !cleared.has(key) && (known.has(key) || !isAllHeard);
    return { holding, undecided: new Set([...firingSince.keys()].filter(isOpen)) };
  },
};

/** One alert per certificate, which rises: the early ticket and the page are about the same thing. */
const identityOf = (name: string): Labels => labelsOf([['certificate', name]]);

function byName(readings: readonly CertificateReading[]): ReadonlyMap<string, readonly CertificateReading[]> {
  const found = new Map<string, CertificateReading[]>();
  for (const reading of readings) {
    const list = found.get(reading.name);
    if (list === undefined) found.set(reading.name, [reading]);
    else list.push(reading);
  }
  return found;
}

/** Milliseconds; shorter for certificates whose lifetime is known to be short. */
interface Limits {
  readonly early: number;
  readonly left: number;
  readonly unrenewed: number;
  readonly page: number;
}

function limitsOf({ lifetimeMs, notAfter, firstSeenAt }: CertificateReading, settings: DetectorSettings): Limits {
  const atFirst = notAfter - firstSeenAt;
  const lifetime = lifetimeMs ?? (atFirst < SHORT_LIVED_MS ? atFirst : Number.POSITIVE_INFINITY);
  const left = threshold(settings, 'daysLeft');
  const sixth = lifetime / 6;
  return {
    early: Math.min(threshold(settings, 'earlyDaysLeft'), lifetime / 3),
    left: Math.min(left, sixth),
    unrenewed: sixth < left ? sixth : threshold(settings, 'unrenewedFor'),
    page: Math.min(threshold(settings, 'pageDaysLeft'), lifetime / 12),
  };
}

/** Null = nothing is wrong. */
function judge(
  { notAfter, firstSeenAt, renewedAt, renewalCountedAt }: CertificateReading,
  limits: Limits,
  now: EpochMs,
  isFiring: boolean,
  settings: DetectorSettings,
): Severity | null {
  const left = notAfter - now;
  const lastRenewal = Math.max(renewedAt ?? 0, renewalCountedAt ?? 0);
  const isRenewed = lastRenewal > 0 && now - lastRenewal < limits.unrenewed;
  // Watched for so long that a renewal would have been seen, or counted by the automation itself.
  const isKnown = renewalCountedAt !== null || renewedAt !== null || now - firstSeenAt >= limits.unrenewed;
  const isLast = left < limits.left && !isRenewed;
  const isUrgent = left <= limits.page;
  if (isUrgent || (isLast && isKnown)) return 'page';
  if (isLast) return settings.severity;
  const isEarly = (!isKnown && left < limits.early - GRACE_MS) || (isFiring && !isRenewed && left < limits.early);
  return isEarly ? 'ticket' : null;
}

const days = (milliseconds: number): number => Math.floor(milliseconds / DAY_MS);

function toFinding(
  soonest: CertificateReading,
  heard: readonly CertificateReading[],
  severity: Severity,
  limits: Limits,
  now: EpochMs,
): Finding {
  const { name, notAfter, renewedAt, renewalCountedAt, firstSeenAt } = soonest;
  const left = notAfter - now;
  const serving = [...new Set(heard.filter((one) => one.notAfter === notAfter).map(({ balancer }) => balancer))];
  const lastRenewal = Math.max(renewedAt ?? 0, renewalCountedAt ?? 0);
  const ends = left <= 0 ? `ended ${days(-left)} days ago` : `ends in ${days(left)} days`;
  const renewal =
    lastRenewal > 0
      ? `last renewed ${days(now - lastRenewal)} days ago`
      : `no renewal seen in the ${days(now - firstSeenAt)} days that it has been watched`;
  const evidence: Evidence[] = [
    { name: 'days_left', value: days(left), unit: 'd', text: `the certificate ${ends}` },
    { name: 'days_unrenewed', value: days(now - Math.max(lastRenewal, firstSeenAt)), unit: 'd', text: renewal },
    {
      name: 'limit',
      value: days(limits.left),
      unit: 'd',
      text: `renewal is due with more than ${days(limits.left)} days left`,
    },
    { name: 'balancers', value: serving.length, unit: '{balancer}', text: `served by ${namesText(serving)}` },
  ];
  return {
    identity: identityOf(name),
    place: serving.length === 1 && serving[0] !== undefined ? { balancer: serving[0] } : {},
    severity,
    summary: `Certificate ${name === '' ? '(without a name)' : name} ${ends}; ${renewal}.`,
    evidence,
  };
}
