import type { FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence, Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { logBinomialTail } from './binomial.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { baselineBefore, baselineEnd, isEvidenced } from './robust-stats.ts';
import { type Summed, sumWhere } from './sums.ts';
import { logPoissonTail } from './two-samples.ts';
import { percent, perSecond, timesText } from './words.ts';

/** The window grows no further than this while it waits for enough handshakes. */
const WINDOW_MS_MAX = 900_000;
/** Connections that grow by less are as they were. */
const FLAT_GROWTH = 1.5;
/** Share of full handshakes with RSA keys that makes a certificate RSA-only. */
const RSA_ONLY = 0.95;
/** A zone that makes less than this part of its usual handshakes while others storm is one that clients leave. */
const DESERTED = 0.9;
/** A resumption that was lower than this had nothing to lose. */
const RESUMPTION_MIN = 0.1;

/** Chance that as many full handshakes, or as few resumed ones, come from what is usual. */
const LOG_CHANCE_MAX = Math.log(1e-8);

type Cause = 'ticket_keys' | 'launch_traffic' | 'rsa_only' | 'unknown';

/**
 * Balancers make far more full TLS handshakes than usual, or sessions are hardly resumed any more. Full handshakes are
 * what costs CPU, and what fails here fails before any request exists. More of everything is no storm: full handshakes
 * must grow more than requests do.
 */
export const handshakeStorm: Detector = {
  name: ALERT.handshakeStorm,
  detect(input: DetectionInput): Detection {
    const { view, now, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const undecided = new Set<string>();
    const fleet: Scope = { identity: labelsOf([['scope', 'fleet']]), place: {}, where: 'the fleet', keep: () => true };
    const isFleetWide = judge(input, fleet, end, holding, undecided) === 'holds';
    const zones = zonesOf(view);
    const stormy: Finding[] = [];
    let judgedZones = 0;
    for (const scope of zones) {
      // A fleet-wide storm is told once; a zone that had it first keeps its alert.
      if (isFleetWide && !firingSince.has(labelsKey(scope.identity))) continue;
      if (judge(input, scope, end, stormy, undecided) !== 'unknown') judgedZones += 1;
    }
    // Each zone that has clients has it: they have moved there from others, where there is none to be seen.
    const isEverywhere = !isFleetWide && stormy.length >= 2 && stormy.length === judgedZones;
    const isNew = !zones.some(({ identity }) => firingSince.has(labelsKey(identity)));
    if (isEverywhere && isNew && judge(input, fleet, end, holding, undecided, true) === 'holds') stormy.length = 0;
    holding.push(...stormy);
    const judged = new Set([fleet, ...zonesOf(view)].map(({ identity }) => labelsKey(identity)));
    for (const key of firingSince.keys()) if (!judged.has(key)) undecided.add(key);
    return { holding, undecided };
  },
};

/** Balancers that are judged together. */
interface Scope {
  readonly identity: Labels;
  readonly place: Place;
  readonly where: string;
  readonly keep: (labels: Labels) => boolean;
}

function zonesOf(view: FeatureView): readonly Scope[] {
  const zones = new Set<string>();
  for (const { labels } of view.features('zone.handshakes')) zones.add(labels.get('zone') ?? '');
  if (zones.size < 2) return [];
  return [...zones]
    .filter((zone) => zone !== '')
    .sort()
    .map((zone) => ({
      identity: labelsOf([['zone', zone]]),
      place: { zone },
      where: `zone ${zone}`,
      keep: (labels) => labels.get('zone') === zone,
    }));
}

interface Counters {
  readonly full: Summed;
  readonly resumed: Summed;
  readonly connections: Summed;
  readonly requests: Summed;
}

function countersOf(view: FeatureView, { keep }: Scope): Counters {
  const handshakes = (resumed: boolean): Summed =>
    sumWhere(view, 'zone.handshakes', (labels) => keep(labels) && (labels.get('resumed') === 'true') === resumed);
  return {
    full: handshakes(false),
    resumed: handshakes(true),
    connections: sumWhere(view, 'zone.connections', keep),
    requests: sumWhere(view, 'zone.requests', keep),
  };
}

function judge(
  { view, settings, firingSince }: DetectionInput,
  scope: Scope,
  end: EpochMs,
  holding: Finding[],
  undecided: Set<string>,
  isCertain = false,
): 'holds' | 'not' | 'unknown' {
  const key = labelsKey(scope.identity);
  const counters = countersOf(view, scope);
  const holdFor = threshold(settings, 'holdFor');
  const rate = usualRate(counters.full, baselineEnd(epochMs(end - holdFor), holdFor, firingSince.get(key)));
  const figures =
    rate === null
      ? null
      : figuresOf(counters, rate, end, holdFor, firingSince.get(key), threshold(settings, 'minEvents'));
  if (figures === null) {
    if (firingSince.has(key)) undecided.add(key);
    return 'unknown';
  }
  const evidenced = { minEvents: threshold(settings, 'minEvents'), minExpected: threshold(settings, 'minExpected') };
  const isMore =
    isEvidenced(figures.full, figures.due, evidenced) &&
    figures.growth >= threshold(settings, 'fullAboveBaseline') &&
    figures.latelyGrowth >= threshold(settings, 'fullAboveBaseline') &&
    (figures.requestGrowth === null ||
      figures.latelyGrowth >= threshold(settings, 'aboveRequests') * figures.requestGrowth) &&
    logPoissonTail(figures.full, figures.due * Math.max(1, figures.requestGrowth ?? 1)) <= LOG_CHANCE_MAX;
  const resumptionShare = threshold(settings, 'resumptionShare');
  const isLost =
    // No share that is usual is above 1: mostly there is nothing to look up.
    figures.resumption < resumptionShare &&
    figures.latelyResumption < resumptionShare &&
    figures.usualResumption !== null &&
    figures.usualResumption >= RESUMPTION_MIN &&
    isEvidenced(figures.total, figures.total * figures.usualResumption, evidenced) &&
    figures.resumption < resumptionShare * figures.usualResumption &&
    figures.latelyResumption < resumptionShare * figures.usualResumption &&
    logBinomialTail(figures.full, figures.total, 1 - figures.usualResumption) <= LOG_CHANCE_MAX;
  if (!isMore && !isLost && !isCertain) return figures.latelyGrowth < DESERTED ? 'unknown' : 'not';
  holding.push(
    toFinding(scope, figures, causeOf(figures, isLost), rsaShare(view, scope, figures, end), settings.severity),
  );
  return 'holds';
}

/** Events per millisecond. */
const usualRate = (counter: Summed, until: EpochMs): number | null =>
  baselineBefore(counter.firstDataAt, until, (from, to) => counter.range(from, to) / (to - from))?.middle ?? null;

interface Figures {
  readonly windowMs: number;
  readonly full: number;
  readonly total: number;
  /** Full handshakes that were due. */
  readonly due: number;
  readonly growth: number;
  /** The same for the later half of the window: a single spike has gone by then. */
  readonly latelyGrowth: number;
  /** Full handshakes per second in that half: what is told, as it is now. */
  readonly latelyRate: number;
  readonly resumption: number;
  readonly latelyResumption: number;
  readonly usualResumption: number | null;
  /** Of new connections, or of all handshakes where those are not told; for the later half, as it is now. */
  readonly connectionGrowth: number | null;
  readonly requestGrowth: number | null;
}

/** Worked out when first asked for: baselines are most of the work, and few are asked for while all is well. */
function once(work: () => number | null): () => number | null {
  let known: number | null | undefined;
  return () => {
    if (known === undefined) known = work();
    return known;
  };
}

/** Null where nothing is counted, which is no sign of anything. */
function figuresOf(
  { full, resumed, connections, requests }: Counters,
  rate: number,
  end: EpochMs,
  holdFor: number,
  since: EpochMs | undefined,
  minEvents: number,
): Figures | null {
  const wanted = rate > 0 ? Math.ceil(minEvents / rate / 10_000) * 10_000 : holdFor;
  const windowMs = Math.min(WINDOW_MS_MAX, Math.max(holdFor, wanted));
  const from = epochMs(end - windowMs);
  const middle = epochMs(end - Math.round(windowMs / 20_000) * 10_000);
  const until = baselineEnd(from, windowMs, since);
  const all: Summed = {
    firstDataAt: resumed.firstDataAt ?? full.firstDataAt,
    range: (a, b) => full.range(a, b) + resumed.range(a, b),
  };
  const total = all.range(from, end);
  if (total <= 0) return null;
  const growth = (counter: Summed): number | null => {
    const usual = usualRate(counter, until);
    return usual === null || usual <= 0 ? null : counter.range(middle, end) / (usual * (end - middle));
  };
  const ratio = (a: EpochMs, b: EpochMs): number | null => {
    const events = all.range(a, b);
    return events < minEvents ? null : resumed.range(a, b) / events;
  };
  const due = rate * windowMs;
  const usualResumption = once(() => baselineBefore(all.firstDataAt, until, ratio)?.middle ?? null);
  const connectionGrowth = once(() => growth(connections) ?? growth(all));
  const requestGrowth = once(() => growth(requests));
  return {
    windowMs,
    total,
    due,
    full: full.range(from, end),
    growth: full.range(from, end) / Math.max(due, 1),
    latelyGrowth: full.range(middle, end) / Math.max(rate * (end - middle), 1),
    latelyRate: full.range(middle, end) / ((end - middle) / 1000),
    resumption: resumed.range(from, end) / total,
    latelyResumption: resumed.range(middle, end) / Math.max(1, all.range(middle, end)),
    get usualResumption() {
      return usualResumption();
    },
    get connectionGrowth() {
      return connectionGrowth();
    },
    get requestGrowth() {
      return requestGrowth();
    },
  };
}

function causeOf({ connectionGrowth, latelyResumption, usualResumption }: Figures, isLost: boolean): Cause {
  const isFlat = connectionGrowth !== null && connectionGrowth < FLAT_GROWTH;
  const hasFallen = isLost || (usualResumption !== null && latelyResumption < usualResumption / 2);
  if (hasFallen && isFlat) return 'ticket_keys';
  return connectionGrowth !== null && !isFlat ? 'launch_traffic' : 'unknown';
}

/** Share of full handshakes with an RSA key; null where key types are not told. */
function rsaShare(view: FeatureView, { keep }: Scope, { windowMs }: Figures, end: EpochMs): number | null {
  const from = epochMs(end - windowMs);
  const isFull = (labels: Labels): boolean => keep(labels) && labels.get('resumed') !== 'true';
  const told = sumWhere(view, 'zone.handshakes', (labels) => isFull(labels) && labels.has('keyType')).range(from, end);
  const rsa = sumWhere(view, 'zone.handshakes', (labels) => isFull(labels) && isRsa(labels)).range(from, end);
  return told > 0 ? rsa / told : null;
}

const isRsa = (labels: Labels): boolean => /^rsa/i.test(labels.get('keyType') ?? '');

const SAID: Readonly<Record<Cause, string>> = {
  ticket_keys: 'sessions are no longer resumed while connections are as usual, which points to ticket keys',
  launch_traffic: 'new connections grow, which points to new clients',
  rsa_only: 'the certificate is RSA-only, which makes each of them cost about five times an ECDSA one',
  unknown: 'neither ticket keys nor new clients explain it by the figures at hand',
};

function toFinding(
  { identity, place, where }: Scope,
  figures: Figures,
  first: Cause,
  rsa: number | null,
  severity: Finding['severity'],
): Finding {
  const isRsaOnly = rsa !== null && rsa >= RSA_ONLY;
  const cause = first === 'unknown' && isRsaOnly ? 'rsa_only' : first;
  const { latelyRate: rate, latelyGrowth: growth, latelyResumption: resumption } = figures;
  const { usualResumption, connectionGrowth, requestGrowth } = figures;
  const usual = usualResumption === null ? 'unknown' : percent(usualResumption);
  const evidence: Evidence[] = [
    { name: 'cause', value: cause, text: SAID[cause] },
    {
      name: 'full_handshakes',
      value: rate,
      unit: '{handshake}/s',
      text: `${perSecond(rate)} full handshakes, ${timesText(growth)} the usual rate`,
    },
    { name: 'resumption', value: resumption, unit: '1', text: `${percent(resumption)} resumed (usual: ${usual})` },
  ];
  if (connectionGrowth !== null) {
    const text = `new connections ${timesText(connectionGrowth)} the usual rate`;
    evidence.push({ name: 'connections', value: connectionGrowth, unit: '1', text });
  }
  if (requestGrowth !== null) {
    const text = `requests ${timesText(requestGrowth)} the usual rate`;
    evidence.push({ name: 'requests', value: requestGrowth, unit: '1', text });
  }
  if (isRsaOnly && rsa !== null) {
    const text = `${percent(rsa)} of full handshakes use an RSA key: an ECDSA certificate would cost a fifth`;
    evidence.push({ name: 'rsa_share', value: rsa, unit: '1', text });
  }
  return {
    identity,
    place,
    severity,
    summary: `Full TLS handshakes of ${where} are ${timesText(growth)} the usual rate, ${percent(resumption)} are resumed (usual: ${usual}): ${SAID[cause]}.`,
    evidence,
  };
}
