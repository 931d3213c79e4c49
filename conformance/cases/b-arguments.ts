/** Section B: the arguments of a call (Q046 to Q054). */
import {
  done,
  fixtures,
  osloText,
  romeText,
  runsBoth,
  runsOslo,
  type Expectation,
} from "../fixture.ts";
import { calls, chatCalls } from "../wire.ts";

const name = "get_weather";
const one = (args: unknown): object => calls({ id: "a", name, arguments: args });
const more = (args: unknown): object => calls({ index: 0, arguments: args });
const runs = (args: Record<string, unknown>): Expectation => ({
  ...done,
  calls: [{ name, arguments: args }],
});
const whole = one(osloText);
const refused = { ends: "done", refusedCalls: 1 } as const;

export const argumentsAndEnds = fixtures("openai-chat", [
  {
    id: "Q046",
    title: "arguments as an object",
    body: chatCalls(one({ city: "Oslo" })),
    expect: runsOslo,
  },
  {
    id: "Q046",
    title: "arguments as an object, two calls",
    body: chatCalls(
      one({ city: "Oslo" }),
      calls({ index: 1, id: "b", name, arguments: { city: "Rome" } }),
    ),
    expect: runsBoth,
  },
  { id: "Q046", title: "arguments as an empty object", body: chatCalls(one({})), expect: runs({}) },
  {
    id: "Q046",
    title: "arguments as an array",
    body: chatCalls(one(["Oslo"])),
    expect: refused,
    note: "An array is complete but not an object; the catalogue only says to stringify it.",
  },
  { id: "Q047", title: "whole arguments in one chunk", body: chatCalls(whole), expect: runsOslo },
  ...[null, "", undefined].map((args) => ({
    id: "Q048",
    title: `arguments ${args === undefined ? "absent" : JSON.stringify(args)}`,
    body: chatCalls(calls({ id: "a", name, ...(args !== undefined && { arguments: args }) })),
    expect: runs({}),
  })),
  { id: "Q048", title: "arguments of white space", body: chatCalls(one(" \n")), expect: runs({}) },
  {
    id: "Q049",
    title: "{} first, then the real arguments",
    body: chatCalls(one("{}"), more('{"city":'), more('"Oslo"}')),
    expect: runsOslo,
  },
  {
    id: "Q049",
    title: "{} first, then the real arguments at once",
    body: chatCalls(one("{}"), more(osloText)),
    expect: runsOslo,
  },
  {
    id: "Q049",
    title: "{} and nothing more",
    body: chatCalls(one("{}"), more("")),
    expect: runs({}),
  },
  {
    id: "Q050",
    title: "cumulative arguments",
    body: chatCalls(one('{"city":'), more('{"city":"Os'), more(osloText)),
    expect: runsOslo,
  },
  {
    id: "Q050",
    title: "cumulative arguments, the last repeated",
    body: chatCalls(one('{"city":'), more(osloText), more(osloText)),
    expect: runsOslo,
    note: "The catalogue expects each snapshot to be longer; a repeated one is the natural end.",
  },
  {
    id: "Q050",
    title: "arguments that only look cumulative",
    body: chatCalls(one('{"a":'), more('{"a":'), more("1}}")),
    expect: runs({ a: { a: 1 } }),
  },
  {
    id: "Q051",
    title: "arguments encoded twice",
    body: chatCalls(one(JSON.stringify(osloText))),
    expect: runsOslo,
  },
  {
    id: "Q051",
    title: "arguments that are only a string",
    body: chatCalls(one('"Oslo"')),
    expect: refused,
  },
  {
    id: "Q052",
    title: "a raw newline in a string",
    body: chatCalls(one('{"city":"Os\nlo"}')),
    expect: runs({ city: "Os\nlo" }),
  },
  {
    id: "Q052",
    title: "a raw tab and an invalid escape",
    body: chatCalls(one('{"city":"a\tb\\d+"}')),
    expect: runs({ city: "a\tb\\d+" }),
  },
  {
    id: "Q052",
    title: "a raw newline, and truncated",
    body: chatCalls(one('{"city":"Os\nlo')),
    expect: refused,
  },
  {
    id: "Q053",
    title: "a fragment that parses before the call is complete",
    body: chatCalls(one("{"), more("}"), more("")),
    expect: runs({}),
  },
  {
    id: "Q053",
    title: "{} as a fragment inside",
    body: chatCalls(one('{"a":'), more("{}"), more(',"city":"Oslo"'), more("}")),
    expect: runs({ a: {}, city: "Oslo" }),
  },
  {
    id: "Q053",
    title: "a scalar that grows",
    body: chatCalls(one("1"), more("2")),
    expect: refused,
  },
  {
    id: "Q054",
    title: "white space after the arguments",
    body: chatCalls(one(osloText), more(" "), more("\n")),
    expect: runsOslo,
  },
  {
    id: "Q054",
    title: "an end tag after the arguments",
    body: chatCalls(one(osloText), more("</tool_call>")),
    expect: runsOslo,
  },
  {
    id: "Q054",
    title: "an end tag on a separate line",
    body: chatCalls(one(osloText), more("\n</tool"), more("_call>\n")),
    expect: runsOslo,
  },
  {
    id: "Q054",
    title: "two values",
    body: chatCalls(one(osloText), more(romeText)),
    expect: refused,
  },
  {
    id: "Q054",
    title: "trailing words",
    body: chatCalls(one(osloText), more(" and so on")),
    expect: refused,
  },
]);
