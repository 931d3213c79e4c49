/**
 * Accepts Anthropic's Messages by its streaming documentation: `message_start`, then blocks one
 * after the other, then `message_delta` with the stop reason, then `message_stop`. Each block has a
 * start, deltas of its kind and a stop; its index is its position in the content. `ping` may come
 * anywhere, and events of other names are ignored.
 */
import { readEvents } from "../event-stream.ts";
import {
  areUnique,
  asObject,
  asText,
  isObject,
  judge,
  must,
  parseObject,
  type Held,
  type HeldCall,
  type Json,
  type Verdict,
} from "./verdict.ts";

const endings: ReadonlyMap<unknown, Held["ending"]> = new Map([
  ["end_turn", "complete"],
  ["stop_sequence", "complete"],
  ["tool_use", "complete"],
  ["pause_turn", "complete"],
  ["max_tokens", "cut"],
  ["model_context_window_exceeded", "cut"],
  ["refusal", "failed"],
]);

/** The deltas that a kind of block may have. Other kinds have none. */
const deltasOf: { readonly [block: string]: readonly string[] } = {
  text: ["text_delta", "citations_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
  server_tool_use: ["input_json_delta"],
  mcp_tool_use: ["input_json_delta"],
  compaction: ["compaction_delta"],
};

/** Blocks with the model's own text and calls. */
const answerBlocks: ReadonlySet<string> = new Set(["text", "thinking", "tool_use"]);

export function acceptAnthropicMessages(body: Uint8Array): Verdict {
  return judge((doubt) => new MessageStream(doubt).read(body));
}

interface Block {
  readonly type: string;
  readonly start: Json;
  text: string;
  input: string;
  isOpen: boolean;
}

class MessageStream {
  readonly #doubt: (reason: string) => void;
  #messageId: unknown;
  #hasBegun = false;
  /** The blocks by index, in the order of their start. */
  readonly #blocks = new Map<number, Block>();
  #hasDelta = false;
  #reason: unknown;
  #ending: Held["ending"] = "complete";

  constructor(doubt: (reason: string) => void) {
    this.#doubt = doubt;
  }

  read(body: Uint8Array): Held {
    for (const event of readEvents(body, this.#doubt)) {
      let data: Json;
      try {
        data = parseObject(event.data);
      } catch (error) {
        if (event.isCut) break;
        throw error;
      }
      const type = asText(data["type"]);
      if ((event.name ?? type) !== type) this.#doubt("an event under another name");
      if (type === "error") return { text: this.#text(), calls: [], ending: "failed" };
      if (type === "message_stop") {
        must(this.#hasDelta, "message_stop without message_delta");
        return this.#finished();
      }
      this.#take(type, data);
    }
    must(this.#reason !== undefined, "ends without message_stop");
    this.#doubt("ends after the stop reason, without message_stop");
    return this.#finished();
  }

  #take(type: string, data: Json): void {
    if (type === "message_start") return this.#begin(asObject(data["message"]));
    if (!/^(?:content_block_|message_delta)/.test(type)) return; // pings, and events of later versions
    must(this.#hasBegun, "an event before message_start");
    if (type === "content_block_start") this.#start(data);
    else if (type === "content_block_delta") this.#delta(data);
    else if (type === "content_block_stop") this.#stop(data);
    else if (type === "message_delta") this.#finish(asObject(data["delta"]));
  }

  /** Kimi and MiniMax repeat the start of the message. */
  #begin({ id }: Json): void {
    must(!this.#hasBegun || id === this.#messageId, "two messages");
    if (this.#hasBegun) this.#doubt("a repeated message_start");
    this.#hasBegun = true;
    this.#messageId = id;
  }

  #start({ index, content_block: block }: Json): void {
    must(this.#reason === undefined, "a block after the stop reason");
    must(Number.isInteger(index), "a block without an index");
    must(!this.#blocks.has(Number(index)), "a block that begins twice");
    must(isObject(block), "a block that is not an object");
    // Relays in front of Bedrock skip numbers and open blocks in parallel.
    if (index !== this.#blocks.size) this.#doubt("indices of blocks that are not consecutive");
    if (this.#open().length > 0) this.#doubt("a block that begins within another");
    const type = asText(block["type"]);
    const text = type === "text" ? asText(block["text"]) : "";
    this.#blocks.set(Number(index), { type, start: block, text, input: "", isOpen: true });
  }

  #delta({ index, delta }: Json): void {
    const { type, text, thinking, partial_json: piece } = asObject(delta);
    if ((text ?? thinking) === "" && !this.#blocks.has(Number(index)))
      return this.#doubt("an empty piece of a text that has not begun");
    const block = this.#blocks.get(Number(index)) ?? this.#begun(index, type);
    must(block.isOpen, "a delta of a block that has ended");
    const isOfKind = deltasOf[block.type]?.includes(asText(type)) ?? false;
    must(isOfKind || !answerBlocks.has(block.type), "a delta of another kind of block");
    if (!isOfKind) this.#doubt("a delta of another kind in a block of the server's own");
    if (type === "text_delta") block.text += asText(text);
    if (type === "input_json_delta") block.input += asText(piece);
  }

  /** Proxies leave out the start of a text. */
  #begun(index: unknown, delta: unknown): Block {
    const isText = delta === "text_delta" || delta === "thinking_delta";
    must(isText, "a delta of a block that has not begun");
    this.#doubt("a text that has not begun");
    this.#start({ index, content_block: { type: asText(delta).replace(/_delta$/, "") } });
    return this.#blocks.get(Number(index)) as Block;
  }

  /** Relays end blocks twice, and end blocks that never existed. */
  #stop({ index }: Json): void {
    const block = this.#blocks.get(Number(index));
    if (block?.isOpen !== true) return this.#doubt("the end of a block that is not open");
    block.isOpen = false;
  }

  #open(): Block[] {
    return [...this.#blocks.values()].filter(({ isOpen }) => isOpen);
  }

  #finish({ stop_reason: reason }: Json): void {
    this.#hasDelta = true;
    if (reason == null) return;
    // Kimi's blocks have no end event.
    for (const block of this.#open()) {
      this.#doubt("a block without an end");
      block.isOpen = false;
    }
    const ending = endings.get(reason);
    must(ending !== undefined, "an unknown stop reason");
    must(this.#reason === undefined || this.#reason === reason, "a second stop reason");
    [this.#reason, this.#ending] = [reason, ending];
  }

  #calls(): HeldCall[] {
    const blocks = [...this.#blocks.values()].filter(({ type }) => type === "tool_use");
    return blocks.map(({ start, input }) => {
      const { id, name } = start;
      must(asText(id) !== "" && asText(name) !== "", "a call without an id or a name");
      const given = JSON.stringify(asObject(start["input"]));
      must(given === "{}" || input === "", "a call with its input twice");
      return { id: asText(id), name: asText(name), arguments: input || given };
    });
  }

  #text(): string {
    const texts = [...this.#blocks.values()].filter(({ type }) => type === "text");
    return texts.map(({ text }) => text).join("");
  }

  #finished(): Held {
    // Proxies that know no reason send null, and then end the message.
    if (this.#reason === undefined) this.#doubt("a stop reason that is null");
    must(this.#open().length === 0, "message_stop within a block");
    const calls = this.#calls();
    // Kimi sends such calls.
    if (!areUnique(calls.map(({ id }) => id))) this.#doubt("two calls with one id");
    const hasCall = calls.length > 0;
    if (this.#reason === "tool_use" && !hasCall) this.#doubt("stop reason tool_use without a call");
    return { text: this.#text(), calls, ending: this.#ending };
  }
}
