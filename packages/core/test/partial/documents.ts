/** Random JSON documents, their texts and how they are cut. */
import fc from "fast-check";

/** Names that objects treat specially, and a few that repeat. */
const name = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "", "a", "b", "0", "1", "length"),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("\ud800", "\udc00\ud800", "😀", "\\u12", '"', "\u0000\n\t", "</tool_call>"),
);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e21, 5e-324, -1.5e300, 0.1),
);

/** A document as a tree of which the text is written below, with repeated names. */
export type Node =
  | { readonly kind: "scalar"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly Node[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, Node])[] };

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      number.map((value): Node => ({ kind: "scalar", text: JSON.stringify(value) })),
      fc
        .constantFrom("1E5", "-0", "1e+2", "0.10", "2E-3", "12345678901234567890", "1e400")
        .map((written): Node => ({ kind: "scalar", text: written })),
      fc
        .constantFrom("true", "false", "null")
        .map((word): Node => ({ kind: "scalar", text: word })),
      words.map((value): Node => ({ kind: "string", value })),
    ),
    fc.array(tie("node"), { maxLength: 5 }).map((items): Node => ({ kind: "array", items })),
    fc
      .array(fc.tuple(name, tie("node")), { maxLength: 5 })
      .map((entries): Node => ({ kind: "object", entries })),
  ),
}));

const space = fc.constantFrom("", "", "", " ", "\n", "\t\r\n  ");

/** Writes a string, with escapes where the dice say so. */
function write(value: string, dice: () => number): string {
  const escaped = Array.from({ length: value.length }, (_, at) => {
    const unit = value.charAt(at);
    if (dice() < 0.2) return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    if (unit === "/" && dice() < 0.5) return "\\/";
    return /["\\\u0000-\u001f]/.test(unit) ? JSON.stringify(unit).slice(1, -1) : unit;
  });
  return `"${escaped.join("")}"`;
}

function toJson(of: Node, dice: () => number, gap: () => string): string {
  const spaced = (inner: string): string => gap() + inner + gap();
  switch (of.kind) {
    case "scalar":
      return of.text;
    case "string":
      return write(of.value, dice);
    case "array":
      return `[${of.items.map((item) => spaced(toJson(item, dice, gap))).join(",") || gap()}]`;
    case "object":
      return `{${
        of.entries
          .map(([key, part]) => spaced(write(key, dice)) + `:` + spaced(toJson(part, dice, gap)))
          .join(",") || gap()
      }}`;
  }
}

/** The text of a random document. */
export const documents: fc.Arbitrary<string> = fc
  .tuple(
    node,
    fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    fc.infiniteStream(space),
  )
  .map(([of, chances, gaps]) => {
    const dice = (): number => chances.next().value as number;
    const gap = (): string => gaps.next().value as string;
    return gap() + toJson(of, dice, gap) + gap();
  });

/** A text in fragments, cut at up to 12 places, or at each character. */
export function cutAt(text: string, places: readonly number[]): string[] {
  if (places.length === 12) return text.split("");
  const offsets = places.map((place) => Math.floor(place * text.length)).toSorted((a, b) => a - b);
  return [0, ...offsets].map((from, index) => text.slice(from, offsets[index] ?? text.length));
}

export const places: fc.Arbitrary<number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  maxLength: 12,
});
