/** A text with tables and charts, before it is Markdown or HTML. */

export type Cell =
  | string
  /** RFC 3339. */
  | { readonly kind: 'time'; readonly at: string }
  /** A path of a page, or an absolute URL. */
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

export interface DocumentTable {
  readonly title: string;
  readonly columns: readonly string[];
  /** The first cell heads its row. */
  readonly rows: readonly (readonly Cell[])[];
  /** The figures of a chart: folded away where the chart is seen, left out where there are no charts. */
  readonly isOfChart?: boolean;
}

export interface DocumentChart {
  /** What it shows, in one sentence. */
  readonly label: string;
  readonly from: string;
  readonly to: string;
  /** Value by time; null breaks the line. At most five. */
  readonly lines: readonly { readonly label: string; readonly points: readonly (readonly [string, number | null])[] }[];
  readonly words: (value: number) => string;
}

/** One section; what its chart shows stands in a table too. */
export interface DocumentSection {
  /** Anchor, unique in the document. */
  readonly id: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly chart: DocumentChart | null;
  readonly tables: readonly DocumentTable[];
}
