/** The legal streams that are mutated: recordings of real servers, and generated answers. */
import * as fc from "fast-check";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { accept, type Wire } from "./acceptors/accept.ts";
import type { Held } from "./acceptors/verdict.ts";
import { splitEvents } from "./event-stream.ts";
import { applyMutation, dataOf } from "./mutation.ts";

export interface Base {
  readonly wire: Wire;
  /** Must not contain a slash or a comma. */
  readonly name: string;
  readonly body: Uint8Array;
}

const folder =
  process.env["BOWLINE_RECORDINGS"] ?? resolve(import.meta.dirname, "../../shared/recordings");

/** The event that starts an answer, in a file with several answers. */
const beginnings: { readonly [wire in Wire]?: string } = {
  "anthropic-messages": "event: message_start",
  "openai-responses": "event: response.created",
};

/** Recordings from which their authors removed events. */
const shortened = ["openai-openai-phase.1.sse"];

/** Returns every recorded answer of the wire, or undefined if the folder does not exist. */
export function recordedAnswers(wire: Wire): Base[] | undefined {
  const index = join(folder, "index.json");
  if (!existsSync(index)) return undefined;
  const entries = JSON.parse(readFileSync(index, "utf8")) as { protocol: string; file: string }[];
  return entries
    .filter(({ protocol, file }) => protocol === wire && !shortened.includes(file))
    .flatMap(({ file }) =>
      answersOf(readFileSync(join(folder, wire, file)), beginnings[wire]).map((body, n) => ({
        wire,
        name: `${file.replace(/\.sse$/, "")}${n === 0 ? "" : `.${n + 1}`}`,
        body,
      })),
    );
}

function answersOf(body: Buffer, beginning: string | undefined): Uint8Array[] {
  if (beginning === undefined) return [body];
  const answers: Uint8Array[][] = [];
  for (const event of splitEvents(body)) {
    if (answers.length === 0 || Buffer.from(event).toString().split("\n").includes(beginning))
      answers.push([]);
    answers.at(-1)?.push(event);
  }
  return answers.map((events) => Buffer.concat(events));
}

/** Returns the answers to mutate: recordings with calls, and `count` generated answers. */
export async function mutatedAnswers(wire: Wire, seed: number, count: number): Promise<Base[]> {
  const recorded = recordedAnswers(wire) ?? [];
  return [
    ...recorded.filter((base) => heldBy(wire, base.body).calls.length > 0),
    ...(await generatedAnswers(wire, seed, count)),
  ];
}

/** Returns the content of a legal stream. Throws if its acceptor refuses the stream. */
export function heldBy(wire: Wire, body: Uint8Array): Held {
  const verdict = accept(wire, body);
  if (verdict.is !== "illegal") return verdict.held;
  throw new Error(`The acceptor of ${wire} refuses a legal stream: ${verdict.reason}`);
}

/** How many random streams of `peer-tests/grammar` are generated for each one that is used. */
const SAMPLES = 10;

/**
 * Generates `count` answers: half with several calls, a quarter with one, and a quarter of others.
 * A smaller count returns the first ones of each kind.
 */
export async function generatedAnswers(wire: Wire, seed: number, count: number): Promise<Base[]> {
  const { events, framing, write } = await grammarOf(wire);
  const sampled = fc.sample(fc.record({ events, framing }), { seed, numRuns: count * SAMPLES });
  const left = { several: count / 2, one: count / 4, other: count / 4 };
  const chosen: Base[] = [];
  for (const [n, one] of sampled.entries()) {
    const body = respell(wire, n, Buffer.from(write(one.events, one.framing)));
    const { calls, ending } = heldBy(wire, body);
    const isWhole = ending === "complete" && calls.length > 0;
    const kind = !isWhole ? "other" : calls.length > 1 ? "several" : "one";
    if (left[kind]-- > 0) chosen.push({ wire, name: `generated-${seed}-${n}`, body });
  }
  if (chosen.length < count) throw new Error(`Only ${chosen.length} answers of ${wire}.`);
  return chosen;
}

/**
 * Adds what the grammars do not generate. Google: numbers with more digits than JavaScript keeps.
 * Responses: streams without sequence numbers, as some servers send them, and streams with an empty
 * output, as ChatGPT's backend sends them.
 */
function respell(wire: Wire, n: number, body: Buffer): Uint8Array {
  const text = body.toString();
  if (wire === "google-generate")
    return Buffer.from(text.replaceAll("12345678901234567000", "12345678901234567890"));
  if (wire !== "openai-responses" || n % 4 === 0) return body;
  if (n % 2 === 1)
    return Buffer.from(text.replaceAll(/("type":"[\w.]+"),"sequence_number":\d+/g, "$1"));
  const events = splitEvents(body);
  const at = events.findIndex((event) => dataOf(event).includes('"type":"response.completed"'));
  const emptied = { kind: "move", at, path: "response.output", value: "[]" } as const;
  return at === -1 ? body : Buffer.concat(applyMutation(wire, events, emptied));
}

interface Grammar {
  readonly events: fc.Arbitrary<unknown>;
  readonly framing: fc.Arbitrary<unknown>;
  readonly write: (events: unknown, framing: unknown) => string;
}

/** Imports by a computed path, because the grammars are JavaScript without types. */
async function grammarOf(wire: Wire): Promise<Grammar> {
  const load = (file: string): Promise<Record<string, unknown>> =>
    import(new URL(`../peer-tests/grammar/${file}.mjs`, import.meta.url).href);
  const grammar = await load(wire);
  const framing = await load("framing");
  const stream = Object.entries(grammar).find(([name]) => name.endsWith("Stream"))?.[1];
  const how = framing[wire === "google-generate" ? "plainFraming" : "framing"];
  return {
    events: stream as Grammar["events"],
    framing: how as Grammar["framing"],
    write: framing["writeStream"] as Grammar["write"],
  };
}
