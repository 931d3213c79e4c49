/**
 * Turns Responses events into a message. The event type is read from the JSON, and from the SSE
 * event name only if the JSON has none.
 */
// Q191
import { asRecord, asText, list } from "../../json-value.ts";
import { BowlineError } from "../../errors.ts";
import { noteSource } from "../../llm/message.ts";
import { corrupt, truncated } from "../../llm/stream.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { errorOfEnvelope, isError, isErrorObject } from "../../transport/http-error.ts";
import { AnswerEnd, endAnswer } from "../end-answer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { toolUses } from "../tool-uses.ts";
import { asFunctionCall } from "./computer.ts";
import { ItemAssembler } from "./items.ts";
import { toUsage } from "./usage.ts";

type Json = Record<string, unknown>;

/** The HTTP statuses that error codes stand for. A stream's errors have no status. */
const statusOfCode: Record<string, number> = {
  server_error: 500,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  vector_store_timeout: 504,
  context_length_exceeded: 400,
  invalid_api_key: 401,
  model_not_found: 404,
};

/** Events of the server's tools, with the word for what happened. */
const toolEvent = /^response\.(?:\w+\.(completed|failed)|(?:\w+_call|mcp_list_tools)\.(\w+))$/;

export class ResponsesReader implements ProtocolReader {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  readonly #items: ItemAssembler;
  /** Bridges end an answer with calls as `requires_action`. */
  readonly #end = new AnswerEnd(/^(?:completed|requires_action)$/i);
  #createdId: string | undefined;
  /** The number of the last event, and whether an event before it is missing. */
  #number: unknown;
  #isGap = false;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
    this.#items = new ItemAssembler(writer, facts);
  }

  event(data: Json, name: string): void {
    const type = typeof data.type === "string" ? data.type : name;
    const number = data.sequence_number;
    if ((number as number) > (this.#number as number) + 1) this.#isGap = true;
    this.#number = number;
    // Most events are text deltas, so they are tested first.
    if (type === "response.output_text.delta" && name !== "error" && !isError(data.error))
      this.#items.text(data, "text", data.delta, undefined);
    else this.#other(type, data, name);
  }

  /** Ends the body. Only the response's final event completes an answer. */
  // Q179
  end(): void {
    throw truncated();
  }

  #other(type: string, data: Json, name: string): void {
    if (type === "error" || name === "error" || isError(data.error)) throw errorOf(data); // Q019, Q180
    if (Array.isArray(data.choices) || asText(data.object).startsWith("chat.completion")) {
      throw new BowlineError(
        "unexpected_response",
        "The server answers in Chat Completions on a Responses URL: use a model whose api is openai-chat.", // Q192
      );
    }
    // The answer of a server that does not stream (Q018).
    if (data.object === "response") return this.#whole(data, data.status);
    switch (type) {
      case "response.created":
        this.#created(asRecord(data.response));
        return this.#describe(asRecord(data.response));
      case "response.queued":
      case "response.in_progress":
        return this.#describe(asRecord(data.response));
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
      case "response.done": {
        const response = asRecord(data.response);
        const { status } = response;
        if (isEnding(status)) return this.#whole(response, status);
        this.#end.add(asText(status));
        return this.#whole(response, type.slice("response.".length));
      }
      case "response.output_item.added":
      case "response.output_item.done": {
        const isWhole = type.endsWith(".done");
        const item = asFunctionCall(asRecord(data.item), this.#facts.toolNames, isWhole);
        if (typeof item.type !== "string") return;
        return isWhole ? this.#items.done(data, item) : this.#items.added(data, item);
      }
      case "response.content_part.added":
      case "response.content_part.done":
        return this.#items.content(data, asRecord(data.part), type.endsWith(".done"));
      case "response.output_text.done":
        return this.#items.text(data, "text", undefined, data.text);
      case "response.output_text.annotation.added":
        return this.#items.citation(data);
      case "response.refusal.delta":
        return this.#items.text(data, "refusal", data.delta, undefined);
      case "response.refusal.done":
        return this.#items.text(data, "refusal", undefined, data.refusal);
      case "response.reasoning_summary_text.delta":
        return this.#items.reasoning(data, "summary_text", data.delta, undefined);
      case "response.reasoning_summary_text.done":
        return this.#items.reasoning(data, "summary_text", undefined, data.text);
      case "response.reasoning_summary_part.added":
      case "response.reasoning_summary_part.done":
        return this.#items.reasoning(data, "summary_text", undefined, asRecord(data.part).text);
      case "response.reasoning_text.delta":
        return this.#items.reasoning(data, "reasoning_text", data.delta, undefined);
      case "response.reasoning_text.done":
        return this.#items.reasoning(data, "reasoning_text", undefined, data.text);
      case "response.function_call_arguments.delta":
        return this.#items.args(data, data.delta, undefined);
      case "response.function_call_arguments.done":
        return this.#items.args(data, undefined, data.arguments);
    }
    // Other events report the progress of the server's tools, or belong to later versions (Q190).
    const [, end, word = end] = toolEvent.exec(type) ?? [];
    if (word !== undefined) this.#items.progress(data, word);
    else if (isErrorObject(data)) throw errorOf(data);
  }

  #created({ id }: Json): void {
    if (typeof id !== "string" || id === "") return;
    this.#createdId ??= id;
    if (this.#createdId === id) return;
    throw corrupt("Two answers were spliced into one stream.");
  }

  /** Records id, model and usage. Some servers change the id with each event. */
  // Q187
  #describe({ id, model, usage, tool_usage: uses }: Json): void {
    noteSource(this.#writer.message, id, model);
    if (typeof usage !== "object" || usage === null) return;
    const providerTools = toolUses(uses);
    const counts = toUsage(usage as Json);
    this.#writer.describe({ usage: { ...counts, ...(providerTools && { providerTools }) } });
  }

  /** Handles the final event: the whole response and its status. */
  #whole(response: Json, status: unknown): void {
    this.#describe(response);
    const { incomplete_details: details, output, error } = response;
    switch (status) {
      case "completed":
      case "done":
      case "requires_action":
        return this.#finish("completed", "completed", output);
      case "incomplete": {
        const reason = asText(asRecord(details).reason) || "incomplete";
        return this.#finish(reason, reason === "content_filter" ? reason : "incomplete", output);
      }
      case "failed":
      case "cancelled":
        this.#writer.describe({ rawStopReason: status });
        if (isError(error)) throw errorOf({ error }); // Q181
        throw new BowlineError(
          "server_error",
          `The server gave up on the answer (status "${status}").`,
          {
            retryable: true,
          },
        );
      default:
        throw truncated();
    }
  }

  /** Ends the answer. `common` is the reason in the words that all wires share. */
  #finish(reason: string, common: string, output: unknown): void {
    const end = this.#end;
    end.add(reason, common);
    this.#writer.describe({ rawStopReason: end.word });
    // If a server repeats or skips numbers, the output list shows what is missing.
    if (this.#isGap && list(output).length === 0)
      this.#facts.proof.contradict("an event is missing");
    const { toolNames } = this.#facts;
    this.#items.close(list(output).map((item) => asFunctionCall(asRecord(item), toolNames, true)));
    end.check();
    if (this.#items.refused) throw new BowlineError("refusal", "The model refused to answer."); // Q198
    endAnswer(this.#writer, this.#facts, end, end.isCut || this.#items.isCut); // Q182
  }
}

function isEnding(status: unknown): boolean {
  return ["completed", "incomplete", "failed", "cancelled"].includes(status as string);
}

/** Returns the error of an event, flat or nested, with the status that its code stands for. */
// Q180
function errorOf(envelope: Json): BowlineError {
  const inner = isError(envelope.error) ? envelope.error : envelope;
  const { code, type } = asRecord(inner);
  const status = statusOf(code) ?? statusOf(type);
  return errorOfEnvelope({ error: inner, ...(status !== undefined && { status }) });
}

function statusOf(code: unknown): number | undefined {
  if (typeof code !== "string") return undefined;
  if (Object.hasOwn(statusOfCode, code)) return statusOfCode[code];
  return /^invalid_|image/.test(code) ? 400 : undefined;
}
