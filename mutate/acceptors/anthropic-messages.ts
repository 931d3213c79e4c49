/**
 * Anthropic's Messages, by its documentation of streaming: `message_start`; blocks one after the
 * other, each with a start, deltas of its kind and a stop, its index the place in the content;
 * `message_delta` with the stop reason; `message_stop`. `ping` may come anywhere, and events of
 * other names are to be passed over.
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

/** The deltas that a kind of block may have; other kinds have none. */
const deltasOf: { readonly [block: string]: readonly string[] } = {
  text: ["text_delta", "citations_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
  server_tool_use: ["input_json_delta"],
  mcp_tool_use: ["input_json_delta"],
  compaction: ["compaction_delta"],
};

export function acceptAnthropicMessages(body: Uint8Array): Verdict {
  return judge((doubt) => new MessageStream(doubt).read(body));
}

interface Block {
  readonly type: string;
  readonly start: Json;
  input: string;
}

class MessageStream {
  readonly #doubt: (reason: string) => void;
  #hasBegun = false;
  #blocks = 0;
  #open: Block | undefined;
  #text = "";
  readonly #calls: HeldCall[] = [];
  #reason: unknown;
  #ending: Held["ending"] = "complete";
  #isBehindBlocks = false;

  constructor(doubt: (reason: string) => void) {
    this.#doubt = doubt;
  }

  read(body: Uint8Array): Held {
    for (const event of readEvents(body)) {
      let data: Json;
      try {
        data = parseObject(event.data);
      } catch (error) {
        if (event.isCut) break;
        throw error;
      }
      const type = asText(data["type"]);
      must(event.name === undefined || event.name === type, "an event under another name");
      if (type === "error") return { text: this.#text, calls: [], ending: "failed" };
      if (type === "message_stop") return this.#finished();
      this.#take(type, data);
    }
    must(this.#reason !== undefined, "ends without message_stop");
    this.#doubt("ends behind the stop reason, without message_stop");
    return this.#finished();
  }

  #take(type: string, data: Json): void {
    if (type === "message_start") {
      must(!this.#hasBegun, "a second message_start");
      this.#hasBegun = true;
      return;
    }
    if (type === "ping") return;
    must(this.#hasBegun, "an event before message_start");
    if (type === "content_block_start") this.#start(data);
    else if (type === "content_block_delta") this.#delta(data);
    else if (type === "content_block_stop") this.#stop(data);
    else if (type === "message_delta") this.#finish(asObject(data["delta"]));
  }

  #start({ index, content_block: block }: Json): void {
    this.#endOpen();
    must(!this.#isBehindBlocks, "a block behind message_delta");
    must(index === this.#blocks, "a block whose index is not the next one");
    must(isObject(block), "a block that is no object");
    this.#blocks++;
    this.#open = { type: asText(block["type"]), start: block, input: "" };
    if (this.#open.type === "text") this.#text += asText(block["text"]);
  }

  #delta({ index, delta }: Json): void {
    const block = this.#opened(index);
    const { type, text, partial_json: piece } = asObject(delta);
    const isOfKind = deltasOf[block.type]?.includes(asText(type)) ?? false;
    must(isOfKind, "a delta of another kind of block");
    if (type === "text_delta") this.#text += asText(text);
    if (type === "input_json_delta") block.input += asText(piece);
  }

  #stop({ index }: Json): void {
    this.#end(this.#opened(index));
  }

  /** Kimi's blocks have no end of their own. */
  #endOpen(): void {
    if (this.#open === undefined) return;
    this.#doubt("a block that was not ended");
    this.#end(this.#open);
  }

  #end({ type, start, input }: Block): void {
    this.#open = undefined;
    if (type !== "tool_use") return;
    const { id, name } = start;
    must(asText(id) !== "" && asText(name) !== "", "a call without an id or a name");
    const given = JSON.stringify(asObject(start["input"]));
    must(given === "{}" || input === "", "a call with its input twice");
    this.#calls.push({ id: asText(id), name: asText(name), arguments: input || given });
  }

  #opened(index: unknown): Block {
    must(this.#open !== undefined && index === this.#blocks - 1, "an event of a block not open");
    return this.#open;
  }

  #finish({ stop_reason: reason }: Json): void {
    this.#endOpen();
    this.#isBehindBlocks = true;
    if (reason == null) return;
    const ending = endings.get(reason);
    must(ending !== undefined, "a stop reason that is not known");
    must(this.#reason === undefined || this.#reason === reason, "a second stop reason");
    [this.#reason, this.#ending] = [reason, ending];
  }

  #finished(): Held {
    must(this.#reason !== undefined, "message_stop without a stop reason");
    // As Kimi's are.
    if (!areUnique(this.#calls.map(({ id }) => id))) this.#doubt("two calls of one id");
    const hasCall = this.#calls.length > 0;
    must(this.#reason !== "tool_use" || hasCall, "stop reason tool_use without a call");
    return { text: this.#text, calls: this.#calls, ending: this.#ending };
  }
}
