/** A finished terminal row. */
export interface Row {
  readonly text: string;
  readonly width: number;
}

/** Painted text before a row: a quote mark, a list marker or spaces. */
export interface Prefix {
  readonly text: string;
  readonly width: number;
}

export interface RowPrefixes {
  /** Before the first row. */
  readonly first: Prefix;
  /** Before the other rows. */
  readonly rest: Prefix;
}

const none: Prefix = { text: "", width: 0 };

export const noPrefixes: RowPrefixes = { first: none, rest: none };

export const rowText = ({ text }: Row): string => text;
