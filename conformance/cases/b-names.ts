/** Section B: ids and names of calls (Q037 to Q045, Q055, Q070). */
import { fixtures, oslo, osloText, rome, romeText, runsBoth, runsOslo } from "../fixture.ts";
import { calls, chat, chatCalls, chunk, finish, say } from "../wire.ts";

const name = "get_weather";
/** Deltas of a call's arguments in three pieces. */
const [p1, p2, p3] = ['{"ci', 'ty":"O', 'slo"}'] as const;

export const names = fixtures("openai-chat", [
  {
    id: "Q037",
    title: "id changes on every delta",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, id: "b", arguments: p2 }),
      calls({ index: 0, id: "c", arguments: p3 }),
    ),
    expect: { ...runsOslo, keeps: ['"id":"a"'] },
  },
  {
    id: "Q038",
    title: "id empty",
    body: chatCalls(
      calls({ index: 0, id: "", name, arguments: osloText }),
      calls({ index: 1, id: "", name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q038",
    title: "id null",
    body: chatCalls(
      calls({ index: 0, id: null, name, arguments: osloText }),
      calls({ index: 1, id: null, name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q038",
    title: "id absent",
    body: chatCalls(
      calls({ index: 0, name, arguments: p1 }),
      calls({ index: 0, arguments: p2 + p3 }),
    ),
    expect: { ...runsOslo, uniqueIds: true },
  },
  {
    id: "Q039",
    title: "id and name overwritten by empty text",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, id: "", name: "", arguments: p2 }),
      calls({ index: 0, id: null, name: null, arguments: p3 }),
    ),
    expect: { ...runsOslo, keeps: ['"id":"a"'] },
  },
  {
    id: "Q040",
    title: "one id for two calls",
    body: chatCalls(
      calls({ index: 0, id: "x", name, arguments: osloText }),
      calls({ index: 1, id: "x", name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q040",
    title: "one id for two calls, in fragments",
    body: chatCalls(
      calls({ index: 0, id: "x", name, arguments: '{"city":' }),
      calls({ index: 0, arguments: '"Oslo"}' }),
      calls({ index: 1, id: "x", name, arguments: '{"city":' }),
      calls({ index: 1, arguments: '"Rome"}' }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q042",
    title: "name repeated on every delta",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, name, arguments: p2 }),
      calls({ index: 0, name, arguments: p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q042",
    title: "id and name repeated on every delta",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, id: "a", name, arguments: p2 }),
      calls({ index: 0, id: "a", name, arguments: p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q043",
    title: "name in fragments",
    body: chatCalls(
      calls({ index: 0, id: "a", name: "get_", arguments: "" }),
      calls({ index: 0, name: "weather", arguments: "" }),
      calls({ index: 0, arguments: osloText }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q043",
    title: "a name that grows",
    body: chatCalls(
      calls({ index: 0, id: "a", name: "get_", arguments: "" }),
      calls({ index: 0, name, arguments: osloText }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q044",
    title: "name in the second delta",
    body: chatCalls(
      calls({ index: 0, id: "a" }),
      calls({ index: 0, name, arguments: p1 }),
      calls({ index: 0, arguments: p2 + p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q044",
    title: "name after the arguments began",
    body: chatCalls(
      calls({ index: 0, id: "a", arguments: p1 }),
      calls({ index: 0, name, arguments: p2 + p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q044",
    title: "the whole function object in the second delta",
    body: chatCalls(
      chunk({ tool_calls: [{ index: 0, id: "a", type: "function" }] }),
      calls({ index: 0, name, arguments: osloText }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q045",
    title: "name always null",
    body: chatCalls(calls({ index: 0, id: "a", name: null, arguments: osloText })),
    expect: { ends: "done", refusedCalls: 1 },
  },
  {
    id: "Q045",
    title: "name missing beside a good call",
    body: chatCalls(
      calls({ index: 0, id: "a", arguments: osloText }),
      calls({ index: 1, id: "b", name, arguments: romeText }),
    ),
    expect: { ends: "done", calls: [rome], refusedCalls: 1 },
  },
  {
    id: "Q045",
    title: "an entry that is not an object",
    body: chat(
      chunk({ tool_calls: [null] }),
      calls({ index: 0, id: "a", name, arguments: osloText }),
      finish("tool_calls"),
    ),
    expect: { ends: "done", calls: [oslo] },
  },
  {
    id: "Q055",
    title: "type missing",
    body: chatCalls(
      calls({ index: 0, id: "a", type: undefined, name, arguments: p1 }),
      calls({ index: 0, arguments: p2 + p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q055",
    title: "type empty",
    body: chatCalls(calls({ index: 0, id: "a", type: "", name, arguments: osloText })),
    expect: runsOslo,
  },
  {
    id: "Q055",
    title: "type null",
    body: chatCalls(calls({ index: 0, id: "a", type: null, name, arguments: osloText })),
    expect: runsOslo,
  },
  ...[
    "get_weather<|channel|>json",
    "functions.get_weather:0",
    "functions.get_weather",
    "default_api:get_weather",
    "get_weather<|channel|>commentary",
  ].map((odd) => ({
    id: "Q070",
    title: `the name ${odd}`,
    body: chatCalls(calls({ index: 0, id: "a", name: odd, arguments: osloText })),
    expect: runsOslo,
  })),
  {
    id: "Q070",
    title: "a prefix stays if no declared tool matches",
    body: chatCalls(calls({ index: 0, id: "a", name: "functions.delete_all:0", arguments: "{}" })),
    expect: { ends: "done" },
    note: "No tool has the name of this call, so an agent answers it with an error.",
  },
  {
    id: "Q033",
    title: "text, then two calls at index 0",
    body: chatCalls(
      say("Let me look."),
      calls({ index: 0, id: "a", name, arguments: osloText }),
      calls({ index: 0, id: "b", name: "get_time", arguments: osloText }),
    ),
    expect: {
      ends: "done",
      text: "Let me look.",
      calls: [oslo, { name: "get_time", arguments: { city: "Oslo" } }],
      uniqueIds: true,
    },
  },
]);
