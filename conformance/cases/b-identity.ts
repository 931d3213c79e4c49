/** Section B: which call a delta belongs to, by index (Q031 to Q036). */
import { fixtures, osloText, romeText, runsBoth, runsOslo } from "../fixture.ts";
import { calls, chatCalls } from "../wire.ts";

const name = "get_weather";
/** Deltas of a call's arguments in three pieces. */
const [p1, p2, p3] = ['{"ci', 'ty":"O', 'slo"}'] as const;
const noIndex = { index: undefined };

export const identity = fixtures("openai-chat", [
  {
    id: "Q031",
    title: "no index, one call",
    body: chatCalls(calls({ ...noIndex, id: "a", name, arguments: osloText })),
    expect: runsOslo,
  },
  {
    id: "Q031",
    title: "no index, two calls in one chunk",
    body: chatCalls(
      calls(
        { ...noIndex, id: "a", name, arguments: osloText },
        { ...noIndex, id: "b", name, arguments: romeText },
      ),
    ),
    expect: runsBoth,
  },
  {
    id: "Q031",
    title: "no index, two calls in two chunks",
    body: chatCalls(
      calls({ ...noIndex, id: "a", name, arguments: osloText }),
      calls({ ...noIndex, id: "b", name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q031",
    title: "no index, two calls without ids in two chunks",
    body: chatCalls(
      calls({ ...noIndex, name, arguments: osloText }),
      calls({ ...noIndex, name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q031",
    title: "index null",
    body: chatCalls(
      calls({ index: null, id: "a", name, arguments: osloText }),
      calls({ index: null, id: "b", name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q032",
    title: "no index on fragments",
    body: chatCalls(
      calls({ ...noIndex, id: "a", name, arguments: "" }),
      calls({ ...noIndex, arguments: p1 }),
      calls({ ...noIndex, arguments: p2 }),
      calls({ ...noIndex, arguments: p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q032",
    title: "index on the start only",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ ...noIndex, arguments: p2 }),
      calls({ ...noIndex, arguments: p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q032",
    title: "no index on the fragments of two calls",
    body: chatCalls(
      calls({ ...noIndex, id: "a", name, arguments: '{"city":' }),
      calls({ ...noIndex, arguments: '"Oslo"}' }),
      calls({ ...noIndex, id: "b", name, arguments: '{"city":' }),
      calls({ ...noIndex, arguments: '"Rome"}' }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q033",
    title: "two calls at index 0 with different ids",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: osloText }),
      calls({ index: 0, id: "b", name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q033",
    title: "two calls at index 0 in one chunk",
    body: chatCalls(
      calls(
        { index: 0, id: "a", name, arguments: osloText },
        { index: 0, id: "b", name, arguments: romeText },
      ),
    ),
    expect: runsBoth,
  },
  {
    id: "Q033",
    title: "two calls at index 0, each in fragments",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: '{"city":' }),
      calls({ index: 0, arguments: '"Oslo"}' }),
      calls({ index: 0, id: "b", name, arguments: '{"city":' }),
      calls({ index: 0, arguments: '"Rome"}' }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q034",
    title: "index from 1",
    body: chatCalls(
      calls({ index: 1, id: "a", name, arguments: p1 }),
      calls({ index: 1, arguments: p2 + p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q034",
    title: "index with a gap",
    body: chatCalls(
      calls({ index: 1, id: "a", name, arguments: osloText }),
      calls({ index: 4, id: "b", name, arguments: romeText }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q034",
    title: "two calls interleaved by index",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: "" }, { index: 1, id: "b", name, arguments: "" }),
      calls({ index: 1, arguments: '{"city":' }),
      calls({ index: 0, arguments: '{"city":"Os' }),
      calls({ index: 1, arguments: '"Rome"}' }),
      calls({ index: 0, arguments: 'lo"}' }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q035",
    title: "index as a string",
    body: chatCalls(
      calls({ index: "0", id: "a", name, arguments: p1 }),
      calls({ index: "0", arguments: p2 + p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q035",
    title: "index as a string, then as a number",
    body: chatCalls(
      calls({ index: "0", id: "a", name, arguments: p1 }),
      calls({ index: 0, arguments: p2 + p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q036",
    title: "id repeated on every delta",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, id: "a", arguments: p2 }),
      calls({ index: 0, id: "a", arguments: p3 }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q036",
    title: "id repeated on every delta, without an index",
    body: chatCalls(
      calls({ ...noIndex, id: "a", name, arguments: p1 }),
      calls({ ...noIndex, id: "a", arguments: p2 }),
      calls({ ...noIndex, id: "a", arguments: p3 }),
    ),
    expect: runsOslo,
  },
]);
