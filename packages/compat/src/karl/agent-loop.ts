/** karl's agent loop: a generator of events on top of core's loop. */
import { runAgentLoopContinue, type RunEndReason } from "@bowline/core/agent";
import { BowlineError, type ErrorInfo, type StreamFn } from "@bowline/core";
import { pullEvents, type StartRun } from "../pull-events.ts";
import { failureOf } from "../run-end.ts";
import { AgentLoopError, bestAnswer } from "./loop-error.ts";
import { toLoopInput } from "./loop-input.ts";
import type { Message } from "./message.ts";
import { Translator, usageOf } from "./translator.ts";
import type { AgentLoop, Events, LoopArguments, LoopConfig } from "./types.ts";

/** How an entry point makes model calls. */
export interface Wire {
  /** The default stream function of the entry point. */
  readonly streamFn: StreamFn;
  /** The only supported format. Absent: both. */
  readonly apiFormat?: LoopConfig["apiFormat"];
}

/** Creates the loop for one wire. */
export function createAgentLoop(wire: Wire): AgentLoop {
  const agentLoop: (...given: LoopArguments) => Events = async function* (
    systemPrompt,
    userMessage,
    tools,
    config,
  ) {
    try {
      return yield* run(wire, systemPrompt, userMessage, tools, config);
    } catch (error) {
      yield { type: "error", error: error as Error };
      throw error;
    }
  };
  return agentLoop as AgentLoop;
}

async function* run(
  wire: Wire,
  ...[systemPrompt, userMessage, tools, config]: LoopArguments
): Events {
  const system: Message = { role: "system", content: systemPrompt };
  const isText = typeof userMessage === "string";
  const said: readonly Message[] = isText ? [{ role: "user", content: userMessage }] : userMessage;
  const streamFn = streamFnOf(wire, config);
  const input = toLoopInput([system, ...said], tools, config);
  const translator = new Translator(input, config);
  const start: StartRun = (emit, signal) =>
    runAgentLoopContinue(input.context, input.config, emit, signal, streamFn);
  for await (const event of pullEvents(start, config.signal)) {
    yield* translator.events(event);
    if (event.type !== "agent_end") continue;
    const failure = failureOf(event);
    if (failure) {
      const info = { ...failure, message: wordsOf(failure, event.reason, input.refusal.text()) };
      throw new AgentLoopError(info, bestAnswer(translator.answers));
    }
    yield { type: "turn_end", ...usageOf(event.usage) };
  }
  return translator.answers.at(-1) as Message; // a run without a failure has one
}

function streamFnOf(wire: Wire, { streamFn, apiFormat }: LoopConfig): StreamFn {
  if (streamFn) return streamFn;
  if (wire.apiFormat === undefined || wire.apiFormat === apiFormat) return wire.streamFn;
  throw new BowlineError(
    "invalid_argument",
    `This entry speaks "${wire.apiFormat}" only: import from "@bowline/compat/karl" for "${apiFormat}".`,
  );
}

function wordsOf({ status, message }: ErrorInfo, reason: RunEndReason, refusal = message): string {
  if (reason === "budget") return "The rounds for tools are used up.";
  return status === undefined ? message : `API error ${status}: ${refusal}`;
}
