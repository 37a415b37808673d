import type { IncidentDetailView } from './views.ts';

/** One line of Markdown: what could be markup or break a table is not. */
const plain = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`);

const at = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** The record of an incident as Markdown, for a postmortem. Times are UTC. */
export function timelineMarkdown(incident: IncidentDetailView): string {
  const { id, title, severity, state, openedAt, resolvedAt, lead, timeline, attachments, followUps } = incident;
  const lines = [
    `# Incident ${id}: ${plain(title)}`,
    '',
    `- severity: ${severity}, ${state}`,
    `- opened: ${at(openedAt)}`,
    ...(resolvedAt === null ? [] : [`- resolved: ${at(resolvedAt)}`]),
    `- lead: ${plain(lead.name)}: ${plain(lead.summary)}`,
    ...attachments.map(({ title: what, link }) => `- ${plain(what)}: <${link}>`),
    '',
    '## Timeline',
    '',
    '| when | what | who | why |',
    '|---|---|---|---|',
    ...timeline.map(
      (entry) =>
        `| ${at(entry.at)} | ${entry.change.replaceAll('_', ' ')} | ${plain(entry.by)} | ${plain(entry.reason)} |`,
    ),
    '',
    '## Actions',
    '',
    ...(followUps.length === 0
      ? ['None.']
      : followUps.map(
          ({ title: what, owner, due, doneAt }) =>
            `- [${doneAt === null ? ' ' : 'x'}] ${plain(what)} (${plain(owner)}, due ${due})`,
        )),
  ];
  return `${lines.join('\n')}\n`;
}
