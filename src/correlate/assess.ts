import { present } from '../base/assert.ts';
import type { EpochMs } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import { causesOf } from './causes.ts';
import { firingAlerts, highestSeverity, type IncidentDraft } from './draft.ts';
import type { CorrelationSettings } from './settings.ts';
import { byStart, tierMs, tierOf } from './tier.ts';
import { stormTitleOf, titleOf } from './title.ts';

/**
 * The likeliest cause: explained by the fewest others among those that fire (else among all), then the first to fire.
 * Among alerts of its own kind one that pages says more than one that does not.
 */
function leadOf(incident: Incident, settings: CorrelationSettings): Alert {
  const firing = firingAlerts(incident);
  const here = incident.members.filter(({ state }) => state !== 'moved');
  const candidates = firing.length > 0 ? firing : (here.length > 0 ? here : incident.members).map(({ alert }) => alert);
  const names = new Set(candidates.map(({ name }) => name));
  const explained = new Map<string, number>();
  for (const name of names) {
    explained.set(name, [...causesOf(name, settings.causes)].filter((cause) => names.has(cause)).length);
  }
  const rank = ({ name }: Alert): number => explained.get(name) ?? 0;
  const first = present(
    [...candidates].sort((a, b) => rank(a) - rank(b) || byStart(a, b))[0],
    `a member of incident ${incident.id}`,
  );
  const ofItsKind = candidates.filter(({ name, severity }) => name === first.name && severity === 'page').sort(byStart);
  return ofItsKind[0] ?? first;
}

/** Brings lead, severity, tier and title up to date with the members, and writes down what that changed. */
export function reassess(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  const lead = leadOf(draft.incident, settings);
  const title = draft.head.storm ? stormTitleOf(lead, draft.incident, draft.head.storm) : null;
  if (lead.key !== draft.incident.lead) {
    const fields = { lead: lead.key, title: title ?? titleOf(lead), runbook: lead.runbook };
    // Alerts of the tick that opened it came together: their lead is the first one, not another.
    if (draft.incident.openedAt === now) draft.set(fields);
    else draft.record('lead_changed', `${lead.name} is the likelier cause`, fields);
  }
  if (title !== null) draft.set({ title });
  const firing = firingAlerts(draft.incident);
  if (firing.length > 0) gauge(draft, firing, lead);
}

/** Severity and tier of what fires, and whether that is worse or better than before. */
function gauge(draft: IncidentDraft, firing: readonly Alert[], lead: Alert): void {
  const before = draft.incident;
  const severity = highestSeverity(firing);
  const tier = tierOf(firing);
  if (severity !== before.severity) {
    if (severity === 'page') draft.record('escalated', `${riser(firing, lead)} rose to page`, { severity, tier });
    else draft.record('deescalated', 'nothing that pages fires any more', { severity, tier });
    return;
  }
  const isComparable = severity === 'page' && tier !== null && before.tier !== null;
  const step = isComparable ? Math.sign(tierMs(tier) - tierMs(before.tier)) : 0;
  if (step < 0) draft.record('escalated', `tier ${tier} holds`, { tier });
  else if (step > 0) draft.record('deescalated', `${tier} is the fastest tier left`, { tier });
  else draft.set({ tier });
}

/** Who made it a page: the lead where it pages, else the first alert that does. */
function riser(firing: readonly Alert[], lead: Alert): string {
  const paging = firing.filter(({ severity }) => severity === 'page').sort(byStart);
  return (paging.find(({ key }) => key === lead.key) ?? paging[0] ?? lead).name;
}
