/** Text with one style, before it is broken into rows. */
export type Paint = (text: string) => string;

export interface Span {
  readonly text: string;
  readonly paint: Paint;
}

export const unpainted: Paint = (text) => text;

/** Joins spans. Neighbours with the same paint become one, so that a style opens once. */
export function paintSpans(spans: readonly Span[]): string {
  let out = "";
  let pending = "";
  let paint: Paint = unpainted;
  for (const span of spans) {
    if (span.paint !== paint) {
      if (pending !== "") out += paint(pending);
      [pending, paint] = ["", span.paint];
    }
    pending += span.text;
  }
  return pending === "" ? out : out + paint(pending);
}
