/**
 * The practice model as a pure function from a request to its next turn. It keeps nothing: every user message is read as a task,
 * and its steps are replayed against the tool results that follow it, until one asks for a result that is not there yet.
 */
import { parseTask } from "./parse.ts";
import type { Task } from "./parse.ts";
import type { PracticeMessage, PracticeReply, PracticeRequest } from "./request.ts";
import { describe, Setback } from "./step.ts";
import type { Call, Context, Play, Result } from "./step.ts";
import { enumerate } from "./wording.ts";

/** Turns of one task, the answer included. */
const MAX_TURNS = 12;

/** Calls that were made in one turn, and what came back. */
interface Round {
  readonly names: readonly unknown[];
  readonly ids: readonly unknown[];
  readonly results: Result[];
}

/** A user message and the rounds after it. */
interface Turn {
  readonly text: string;
  readonly rounds: Round[];
}

interface State {
  memory: Omit<Context, "notes">;
  readonly texts: string[];
}

export function plan({ messages, tools }: PracticeRequest): PracticeReply {
  const offered = new Set((tools ?? []).map((tool) => tool?.function?.name));
  const state: State = { memory: { paths: [], value: undefined }, texts: [] };
  let calls: readonly Call[] = [];
  for (const turn of toTurns(messages)) {
    state.texts.length = 0;
    calls = replay(turn, state, offered);
  }
  if (calls.length === 0) return { text: state.texts.join("\n\n"), toolCalls: [] };
  const toolCalls = calls.map((call, index) => ({ id: `call_${messages.length}_${index}`, ...call }));
  return { text: `Let me ${enumerate(calls.map(describe), 4)}.`, toolCalls };
}

/** Takes the task as far as its results go; returns the calls it needs next, none once it has its answer. */
function replay({ text, rounds }: Turn, state: State, offered: ReadonlySet<unknown>): readonly Call[] {
  const play = perform(parseTask(text), state);
  let position = 0;
  for (let next = play.next(); !next.done;) {
    const asked = next.value;
    const wanted = asked.filter(({ name }) => offered.has(name));
    const names = wanted.map(({ name }) => name).join();
    // Rounds that the planner did not ask for, as of another model, are passed over.
    while (wanted.length > 0 && position < rounds.length && rounds[position]?.names.join() !== names) position++;
    const round = wanted.length > 0 ? rounds[position++] : undefined;
    if (wanted.length > 0 && round === undefined) {
      if (rounds.length < MAX_TURNS - 1) return wanted;
      state.texts.push(`I stopped here: ${MAX_TURNS} turns are my limit for one task.`);
      return [];
    }
    const results = asked.map((call): Result => {
      const index = wanted.indexOf(call);
      if (index < 0) return { state: "denied", text: `the tool \`${call.name}\` is not offered in this session` };
      return round?.results[index] ?? { state: "failed", text: "no result came back" };
    });
    next = play.next(results);
  }
  return [];
}

function* perform(tasks: readonly Task[], state: State): Play<void> {
  for (const [index, { step }] of tasks.entries()) {
    const notes: string[] = [];
    try {
      const play = step({ ...state.memory, notes });
      const { text, paths = state.memory.paths, value } = Symbol.iterator in play ? yield* play : play;
      state.memory = { paths, value };
      state.texts.push([...notes, text].join("\n"));
    } catch (error) {
      if (!(error instanceof Setback)) throw error;
      const rest = tasks.slice(index + 1).map((task) => `“${task.text}”`);
      state.texts.push([...notes, error.message].join("\n"));
      if (rest.length > 0) state.texts.push(`So I did not do this: ${enumerate(rest)}.`);
      return;
    }
  }
}

function toTurns(messages: readonly PracticeMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const { rounds = [] } = turns.at(-1) ?? {};
    if (message.role === "user") turns.push({ text: toText(message.content), rounds: [] });
    if (message.role === "assistant" && Array.isArray(message.tool_calls) && message.tool_calls.length > 0) {
      const calls = message.tool_calls as NonNullable<PracticeMessage["tool_calls"]>;
      rounds.push({
        names: calls.map((call) => call?.function?.name),
        ids: calls.map((call) => call?.id),
        results: [],
      });
    }
    const round =
      message.role === "tool" ? rounds.findLast(({ ids }) => ids.includes(message.tool_call_id)) : undefined;
    const index = round?.ids.indexOf(message.tool_call_id) ?? -1;
    if (round !== undefined) round.results[index] = toResult(round.names[index], toText(message.content));
  }
  return turns;
}

const FAILED_COMMAND = /(?:^|\n)\[(?:exit code [1-9]\d*|timed out after .+|killed by .+)\]\s*$/;

function toResult(name: unknown, text: string): Result {
  if (text.startsWith("Denied:")) return { state: "denied", text: text.slice(7).trim() };
  const hasFailed = text.startsWith("Error:") || (name === "bash" && FAILED_COMMAND.test(text));
  return hasFailed ? { state: "failed", text: text.replace(/^(?:Error:\s*)+/, "") } : { state: "ok", text };
}

/** The text of a message's content, whatever shape it has. */
function toText(content: unknown): string {
  const parts: unknown[] = Array.isArray(content) ? content : [{ text: content }];
  return parts
    .map((part) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === "string")
    .join("\n");
}
