/**
 * Accepts OpenAI's Chat Completions by its reference: chunks of one choice (n is 1), one finish
 * reason after all content, then `[DONE]`. Where compatible servers are documented to differ, the
 * stream is doubtful.
 */
import { readEvents, type WireEvent } from "../event-stream.ts";
import { ChatChoice } from "./chat-choice.ts";
import {
  asList,
  asObject,
  judge,
  must,
  parseObject,
  type Doubt,
  type Held,
  type Json,
  type Verdict,
} from "./verdict.ts";

export function acceptOpenaiChat(body: Uint8Array): Verdict {
  return judge((doubt) => new ChatStream(doubt).read(body));
}

class ChatStream {
  readonly #doubt: Doubt;
  readonly #choices = new Map<unknown, ChatChoice>();
  readonly #chunkIds = new Set<string>();

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
  }

  read(body: Uint8Array): Held {
    for (const event of readEvents(body, this.#doubt)) {
      if (event.data === "[DONE]") return this.#end(true);
      if (event.isCut) this.#doubt("the last event lacks its empty line");
      if (event.isCut && !isWhole(event)) {
        must(this.#main.reason !== undefined, "ends within an event");
        break;
      }
      const chunk = parseObject(event.data);
      if (chunk["error"] != null) return this.#failed();
      this.#identify(chunk);
      for (const choice of asList(chunk["choices"]).map(asObject)) {
        if (choice["error"] != null) return this.#failed();
        this.#choose(choice);
      }
    }
    return this.#end(false);
  }

  /** The requested choice, or else the first one with content. */
  get #main(): ChatChoice {
    const all = [this.#choices.get(0), ...this.#choices.values()].filter(
      (one) => one !== undefined,
    );
    return all.find((one) => !one.isEmpty) ?? all[0] ?? new ChatChoice(this.#doubt);
  }

  /**
   * "Each chunk has the same ID." Foundry Local, LiteLLM and llama.cpp created one for each chunk;
   * Azure's first chunk has an empty one.
   */
  #identify({ id }: Json): void {
    if (typeof id !== "string" || id === "") return;
    this.#chunkIds.add(id);
    if (this.#chunkIds.size > 1) this.#doubt("chunks with different ids");
  }

  #choose(wire: Json): void {
    const { index = 0 } = wire;
    if (index !== 0) this.#doubt("a choice that was not requested");
    const choice = this.#choices.get(index) ?? new ChatChoice(this.#doubt);
    this.#choices.set(index, choice);
    choice.take(wire);
  }

  /** Ends the answer. Servers that ignore n send other answers, each with its own finish reason. */
  #end(isDone: boolean): Held {
    if (!isDone) this.#doubt("ends without [DONE]");
    const main = this.#main;
    const others = [...this.#choices.values()].filter((one) => one !== main && !one.isEmpty);
    // Proxies in front of Claude put its text and its calls into separate choices.
    const isSplit = main.promisesCall && !main.hasCalls;
    must(
      others.every(({ reason, hasCalls }) => reason !== undefined || (isSplit && hasCalls)),
      "a choice that was not requested, without an end",
    );
    const callers = main.hasCalls ? [main] : others.filter((one) => one.hasCalls);
    const ended = [main, ...this.#choices.values()].find(({ reason }) => reason !== undefined);
    if (ended === undefined) {
      // llama.cpp, NewAPI and Snowflake's servers send no reason, or null to the end.
      must(isDone, "ends without a finish reason");
      this.#doubt("[DONE], without a finish reason");
      must(!main.isEmpty, "[DONE] without any content");
    }
    const endings = [...callers.map((one) => one.ending), ended?.ending ?? "complete"];
    const worst = endings.includes("failed")
      ? "failed"
      : endings.includes("cut")
        ? "cut"
        : "complete";
    const ending = main.hasRefusal ? "failed" : worst;
    if (ended?.promisesCall === true && callers.length === 0)
      this.#doubt("a finish reason that promises a call, without one");
    return { text: main.text, calls: callers.flatMap((one) => one.callsOf(ending)), ending };
  }

  #failed(): Held {
    return { text: this.#main.text, calls: [], ending: "failed" };
  }
}

/** Returns whether only the empty line after the event is missing. */
function isWhole({ data }: WireEvent): boolean {
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
