// Generates texts and the JSON that a model writes, in the pieces in which servers send them.
import * as fc from "fast-check";

/**
 * Text that is easily corrupted: escapes, line ends, multi-byte characters, and text that looks
 * like framing.
 */
const odd = [
  ...'😀|👩‍👧|漢|é|e\u0301|\u2028|\u2029|\ufeff|\u0085|\u0000|\u007f|\r|\n|\r\n|\t|"|\\|\\n|\\ud83d|/|{|}|[|]| '.split(
    "|",
  ),
  ..."data: |\n\ndata: [DONE]\n\n|[DONE]|: |event: error|<think>|</think>|</tool_call>|null|functions.".split(
    "|",
  ),
];

const word = fc.oneof(
  { weight: 2, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) },
  { weight: 2, arbitrary: fc.constantFrom(...odd) },
);

export const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(""));
export const someText = fc
  .array(word, { minLength: 1, maxLength: 8 })
  .map((words) => words.join(""));

/** Splits a text into pieces. Pieces may be empty, and may end within a character. */
export function inPieces(whole) {
  return fc.tuple(whole, fc.array(fc.nat(9999), { maxLength: 6 })).map(([all, places]) => {
    const ends = places.map((place) => place % (all.length + 1)).toSorted((a, b) => a - b);
    return [...ends, all.length].map((end, n) => all.slice(ends[n - 1] ?? 0, end));
  });
}

/** The declared tools. Some names are prefixes of others. */
export const toolNames = ["get", "get_weather", "get_weather_2", "search-docs", "f", "parallel"];
export const toolName = fc.constantFrom(...toolNames);

const space = fc.constantFrom("", "", " ", "\n  ", "\t");
const number = fc.constantFrom(
  "0",
  "-0",
  "7",
  "-1.5",
  "1e21",
  "1E-7",
  "12345678901234567890",
  "0.1",
  "1e400",
);
const string = fc.tuple(text, fc.boolean()).map(([value, isAscii]) => quoted(value, isAscii));
const key = fc
  .oneof(
    fc.constantFrom("city", "a b", "", "0", "ключ", "😀", "__proto__", "constructor", "toString"),
    text,
  )
  .map((name) => quoted(name, false));

const grammar = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.oneof(number, string, fc.constantFrom("true", "false", "null")),
    tie("list"),
    tie("object"),
  ),
  list: fc
    .tuple(fc.array(tie("value"), { maxLength: 3 }), space)
    .map(([items, gap]) => enclosed("[]", items, gap)),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }), space)
    .map(([entries, gap]) =>
      enclosed(
        "{}",
        entries.map((entry) => entry.join(`:${gap}`)),
        gap,
      ),
    ),
}));

/** The text of a JSON object. */
export const argumentsText = fc.tuple(space, grammar.object, space).map((parts) => parts.join(""));

/** For a call without arguments, some models write an empty text. */
export const argumentsOrNothing = fc.oneof(
  { weight: 9, arbitrary: argumentsText },
  { weight: 1, arbitrary: fc.constantFrom("", "{}") },
);

/**
 * A model may write something that is not a JSON object, and OpenAI's servers pass it on. Text that
 * this library repairs is excluded.
 */
export const anyArguments = fc.oneof(
  { weight: 19, arbitrary: argumentsOrNothing },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "[1]",
      "null",
      "7",
      '"x"',
      '{"a":}',
      '{"a":1}}',
      "{'a':1}",
      "NaN",
      "{",
    ),
  },
);

/** Escapes all characters beyond ASCII, as Python's JSON does. */
export function toAscii(json) {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function quoted(value, isAscii) {
  return isAscii ? toAscii(JSON.stringify(value)) : JSON.stringify(value);
}

function enclosed([open, close], items, gap) {
  return `${open}${gap}${items.join(`,${gap}`)}${gap}${close}`;
}
