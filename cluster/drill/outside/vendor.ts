/** The model's server: Chat Completions, streamed slowly enough to be interrupted. */
import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { checkChatRequest } from "@bowline/core/testing";
import { tools } from "../task.ts";
import { toolCallId, type Ledger, type ModelCall } from "./ledger.ts";
import { readRequest, type ChatMessage } from "./read-request.ts";

export interface VendorOptions {
  readonly ledger: Ledger;
  /** Time between two words, in milliseconds. */
  readonly wordMs: number;
  /** Chooses how long a call takes. Returns a number from 0 up to 1. */
  readonly random: () => number;
  /** The longest time that a tool takes, in milliseconds. */
  readonly toolMs: number;
}

/** The words of an answer before the calls of tools, and after the task. */
const FEW_WORDS = 3;

export class Vendor {
  readonly #options: VendorOptions;

  constructor(options: VendorOptions) {
    this.#options = options;
  }

  async answer(body: unknown, response: ServerResponse): Promise<void> {
    const { ledger, wordMs } = this.#options;
    const call = this.#begin(body);
    ledger.models.push(call);
    response.on("close", () => {
      call.endedAt ??= Date.now();
      if (call.state === "streaming") call.state = "cut";
    });
    if (call.problems.length > 0) {
      call.state = "whole";
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: call.problems.join("; ") } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (data: object): void => void response.write(`data: ${JSON.stringify(data)}\n\n`);
    send(chunk({ role: "assistant", content: "" }));
    for (const word of call.text.split(/(?<= )/)) {
      await setTimeout(wordMs * (0.5 + this.#options.random()));
      if (response.destroyed) return;
      send(chunk({ content: word }));
    }
    for (const [index, name] of call.calls.entries())
      send(chunk({ tool_calls: [this.#toolCall(call.number, index, name)] }));
    send(chunk({}, call.calls.length > 0 ? "tool_calls" : "stop"));
    if (call.tokens !== undefined) send({ ...chunk({}), choices: [], usage: usageOf(call.tokens) });
    // In the same tick as the end of the stream, so that a call is whole if all of it was sent.
    call.state = "whole";
    call.endedAt = Date.now();
    response.end("data: [DONE]\n\n");
  }

  #begin(body: unknown): ModelCall {
    const { ledger } = this.#options;
    const { messages = [] } = body as { readonly messages?: readonly ChatMessage[] };
    const { task, turn, heard, seenAnswers, seenResults } = readRequest(messages);
    const number = ledger.models.length + 1;
    const calls = (task.turns[turn] ?? []).map((letter) => tools[letter].name);
    const words = Array.from(
      { length: turn === task.turns.length ? task.words : FEW_WORDS },
      (_, index) => `w${index}`,
    );
    return {
      number,
      task: task.name,
      turn,
      text: [`[${number}] ${task.name}.${turn} heard`, ...heard, ...words].join(" "),
      calls,
      // Different for each call, so that sums show which calls are in them.
      ...(!task.isUncounted && { tokens: { input: 1000 + number, output: words.length } }),
      seenAnswers,
      seenResults,
      problems: checkChatRequest(body),
      startedAt: Date.now(),
      state: "streaming",
    };
  }

  #toolCall(number: number, index: number, name: string): object {
    const ms = Math.round(this.#options.random() * this.#options.toolMs);
    const args = JSON.stringify({ id: toolCallId(number, index), ms });
    return {
      index,
      id: toolCallId(number, index),
      type: "function",
      function: { name, arguments: args },
    };
  }
}

function chunk(delta: object, finish: string | null = null): object {
  return {
    id: "1",
    object: "chat.completion.chunk",
    created: 0,
    model: "mock",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function usageOf({ input, output }: { readonly input: number; readonly output: number }): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
