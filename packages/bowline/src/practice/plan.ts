/**
 * The practice model as a pure function from a request to the next turn. It is stateless: it parses
 * every user message as a task and replays its steps against the tool results that follow, until a
 * result is missing.
 */
import { parseTask } from "./parse.ts";
import type { PracticeMessage, PracticeReply, PracticeRequest } from "./request.ts";
import { describe, Setback } from "./step.ts";
import type { Call, Play, Result, Subject } from "./step.ts";
import { enumerate } from "./wording.ts";

/** The maximum number of turns of one task, including the answer. */
const MAX_TURNS = 12;

/**
 * A user message and the rounds of tool calls after it: the names of the tools, and the results by
 * call id.
 */
interface Turn {
  readonly text: string;
  readonly rounds: { readonly names: string; readonly results: Map<unknown, Result | undefined> }[];
}

interface State {
  subject: Subject;
  texts: string[];
}

export function plan({ messages, tools }: PracticeRequest): PracticeReply {
  const offered = new Set((tools ?? []).map((tool) => tool?.function?.name));
  const state: State = { subject: {}, texts: [] };
  let calls: readonly Call[] = [];
  for (const turn of toTurns(messages)) {
    state.texts = [];
    calls = replay(turn, state, offered);
  }
  if (calls.length === 0) return { text: state.texts.join("\n\n"), toolCalls: [] };
  const toolCalls = calls.map((call, index) => ({
    id: `call_${messages.length}_${index}`,
    ...call,
  }));
  return { text: `Let me ${enumerate(calls.map(describe), 4)}.`, toolCalls };
}

/**
 * Advances the task as far as its results allow. Returns the next calls; none if the task is
 * answered.
 */
function replay(
  { text, rounds }: Turn,
  state: State,
  offered: ReadonlySet<unknown>,
): readonly Call[] {
  const play = perform(text, state);
  const isLast = rounds.length >= MAX_TURNS - 1;
  for (let next = play.next(); !next.done;) {
    const calls = next.value;
    const names = calls.map(({ name }) => name).join();
    const absent = calls.find(({ name }) => !offered.has(name));
    // Skip rounds that the planner did not request, for example from another model.
    const [round] = rounds
      .splice(0, rounds.findIndex((each) => each.names === names) + 1)
      .slice(-1);
    if (absent === undefined && round !== undefined) next = play.next([...round.results.values()]);
    else if (absent === undefined && !isLast) return calls;
    else {
      const reason = absent
        ? `the tool \`${absent.name}\` is not offered here`
        : `${MAX_TURNS} turns are my limit`;
      next = play.next(calls.map((): Result => ({ state: "denied", text: reason })));
    }
  }
  return [];
}

function* perform(message: string, state: State): Play<void> {
  const tasks = parseTask(message);
  for (const [index, { step }] of tasks.entries()) {
    try {
      const play = step(state.subject);
      const {
        text,
        paths = state.subject.paths,
        value,
      } = Symbol.iterator in play ? yield* play : play;
      state.subject = { paths, value };
      state.texts.push(text);
    } catch (error) {
      if (!(error instanceof Setback)) throw error;
      const rest = tasks.slice(index + 1).map((task) => `“${task.text}”`);
      state.texts.push(
        error.message,
        ...(rest.length > 0 ? [`So I did not do this: ${enumerate(rest)}.`] : []),
      );
      return;
    }
  }
}

function toTurns(messages: readonly PracticeMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const { role, content, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === "user") turns.push({ text: toText(content), rounds: [] });
    const { rounds = [] } = turns.at(-1) ?? {};
    if (role === "assistant" && Array.isArray(calls) && calls.length > 0) {
      const made = calls as NonNullable<PracticeMessage["tool_calls"]>;
      const names = made.map((call) => call?.function?.name).join();
      rounds.push({ names, results: new Map(made.map((call) => [call?.id, undefined])) });
    }
    if (role === "tool")
      rounds.findLast(({ results }) => results.has(id))?.results.set(id, toResult(toText(content)));
  }
  return turns;
}

function toResult(text: string): Result {
  if (text.startsWith("Denied:")) return { state: "denied", text: text.slice(7).trim() };
  const isFailure = text.startsWith("Error:");
  return { state: isFailure ? "failed" : "ok", text: text.replace(/^(?:Error:\s*)+/, "") };
}

/** Returns the text of a message's content, in any of its forms. */
function toText(content: unknown): string {
  const parts: unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const texts = parts.map((part) => (part as { text?: unknown } | null)?.text);
  return texts.filter((text) => typeof text === "string").join("\n");
}
