/** Markup that is safe to send: made by `html` only. */
export interface Html {
  readonly markup: string;
}

type Value = Html | string | number | null | undefined | false | readonly Value[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** A template whose values are escaped unless they are Html themselves. null, undefined and false print nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  let markup = parts[0] ?? '';
  values.forEach((value, index) => {
    markup += render(value) + (parts[index + 1] ?? '');
  });
  return { markup };
}

/** Marks text as markup that was made safe elsewhere (rendered Markdown of the package's own runbooks). */
export const trusted = (markup: string): Html => ({ markup });

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(render).join('');
  return (value as Html).markup;
}
