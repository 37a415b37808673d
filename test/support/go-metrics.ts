/** Sum over the samples of `name` that carry all of `labels`, in the text of a Go client whose labels hold no escapes. */
export function sumOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  let total = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue;
    if (Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`))) {
      total += Number(line.slice(line.lastIndexOf(' ')));
    }
  }
  return total;
}
