/**
 * Turns output items into parts. An item is identified by its `output_index`, or else by its id,
 * which some servers change with each event. Items are created on demand, and their end event has
 * the final content.
 */
// Q187, Q185, Q189, Q186, Q188
import { asText } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { CallReader } from "./calls.ts";
import { kindOf, type Item, type Kind } from "./item.ts";
import { OutputList } from "./output-list.ts";
import { PartWriter, type Part } from "./parts.ts";
import { ServerTools } from "./server-tools.ts";
import { hasText, TextReader } from "./texts.ts";

type Json = Record<string, unknown>;

export class ItemAssembler {
  readonly #facts: ReaderFacts;
  readonly #parts: PartWriter;
  readonly #calls: CallReader;
  readonly #texts: TextReader;
  readonly #tools: ServerTools;
  readonly #items: Item[] = [];
  readonly #known = new Map<unknown, Item>();
  /** By id on the wire. */
  readonly #byId = new Map<unknown, Item>();

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#facts = facts;
    this.#parts = new PartWriter(writer);
    this.#calls = new CallReader(this.#parts, facts);
    this.#texts = new TextReader(this.#parts, facts.proof);
    this.#tools = new ServerTools(writer);
  }

  /** Whether the server marked a call as incomplete, even if its arguments look complete. */
  // Q182
  get isCut(): boolean {
    return this.#calls.isCut;
  }

  get refused(): boolean {
    return this.#texts.refused;
  }

  added(event: Json, raw: Json): void {
    const item = this.#find(event, raw.id);
    const isOther = // the server does not number its items
      item?.done === true && item.raw.id !== raw.id && this.#byId.get(raw.id) !== item;
    const isKnown =
      item !== undefined && (item.begun || item.done || item.kind !== kindOf(raw.type));
    if (isKnown && !isOther) this.#contradict("the stream opened an item twice");
    if (item === undefined || item.done || item.kind !== kindOf(raw.type))
      this.#create(raw, event).begun = true;
    else if (item.kind !== "opaque") {
      item.raw = raw; // its deltas came before its start
      this.#byId.set(raw.id, item);
      item.begun = true;
      if (item.kind === "function_call") this.#calls.learn(item.part as Part, raw);
    }
  }

  done(event: Json, raw: Json): void {
    const kind = kindOf(raw.type);
    const item = this.#find(event, raw.id) ?? this.#newest(event, kind);
    if (item !== undefined && item.kind !== kind)
      this.#contradict("the stream ended an item as another kind");
    if (item === undefined || item.kind !== kind)
      return this.#finish(this.#create(raw, event), raw);
    if (!item.done) return this.#finish(item, raw);
    const isRepeated = item.raw.id === raw.id && item.raw.call_id === raw.call_id;
    // The server does not number its items.
    if (!isRepeated) this.#finish(this.#create(raw, event), raw);
    else this.#compare(item, raw);
  }

  /** Adds text to a message: a piece, or the complete text. */
  text(
    event: Json,
    field: "text" | "refusal",
    piece: unknown,
    whole: unknown,
    isEnd: boolean = piece === undefined,
  ): void {
    if (field === "refusal") this.#texts.refuse();
    const text = asText(piece) || asText(whole);
    const item = this.#itemFor(event, "message", text);
    if (item === undefined || text === "") return; // empty text opens no part (Q072)
    this.#texts.add(item, event.content_index ?? 0, text, piece === undefined, isEnd);
  }

  /** Handles the start or end of a content part. Reasoning has its own events. */
  content(event: Json, content: Json, isEnd: boolean): void {
    if (content.type === "refusal") this.text(event, "refusal", undefined, content.refusal, isEnd);
    else if (content.type === "output_text")
      this.text(event, "text", undefined, content.text, isEnd);
    else if (content.type === "reasoning_text") this.#itemFor(event, "reasoning", "");
  }

  citation(event: Json): void {
    const part = this.#find(event, event.item_id)?.texts.get(event.content_index ?? 0);
    if (part !== undefined && event.annotation !== undefined)
      this.#texts.cite(part, event.annotation);
  }

  /**
   * Adds a reasoning summary or reasoning text. If a server sends both, only the first kind is
   * shown.
   */
  reasoning(
    event: Json,
    field: "summary_text" | "reasoning_text",
    piece: unknown,
    whole: unknown,
  ): void {
    const text = asText(piece) || asText(whole);
    const item = this.#itemFor(event, "reasoning", text);
    if (item?.part === undefined || text === "") return;
    const { part } = item;
    if ((part.field ??= field) !== field) return;
    const section = event.summary_index ?? event.content_index ?? 0;
    this.#texts.think(item, part, section, text, typeof piece !== "string");
  }

  /** Adds arguments to a call: a piece, or the complete arguments. */
  args(event: Json, piece: unknown, whole: unknown): void {
    const item = this.#itemFor(event, "function_call", "{}");
    if (item?.part === undefined) return;
    if (item.part.isClosed && piece !== undefined)
      this.#contradict("the stream had a piece for an item that had ended");
    this.#parts.append(item.part, asText(piece));
    this.#calls.complete(item.part, whole);
    item.part.isClosed ||= whole !== undefined;
    if (typeof event.name === "string") item.raw = { name: event.name, ...item.raw };
  }

  /**
   * The server reports the progress of one of its own items. Once it has finished the item, whose
   * end event follows, items after it need not wait for that event.
   */
  progress(event: Json, word: string): void {
    const item = this.#find(event, event.item_id);
    if (item?.part?.kind !== "opaque") return;
    this.#tools.event(item.raw, word);
    if (word === "completed" || word === "failed") item.part.isSettled = true;
  }

  /**
   * Closes the answer. `output` may repeat it, and supplies items that did not arrive or did not
   * end.
   */
  // Q183, Q184
  close(output: unknown): void {
    const entries = new OutputList(output);
    const seen = new Set(this.#items.map(({ kind }) => kind));
    const alone: Item[] = [];
    let isAlone = false;
    for (const item of this.#items) {
      const raw = entries.take(item.raw, item.position);
      if (raw === undefined && item.kind === "function_call") alone.push(item);
      if (raw === undefined && item.texts.size > 0) isAlone = true;
      if (!item.done) this.#finish(item, raw ?? item.raw, raw !== undefined);
      else if (raw !== undefined) this.#compare(item, raw);
    }
    for (const raw of entries.rest) {
      const kind = kindOf(raw.type);
      if (kind === "function_call" && this.#takeEqual(alone, raw)) continue;
      const isNew =
        seen.size === 0 || kind === "function_call" || (kind === "message" && !seen.has(kind));
      if (isNew && typeof raw.type === "string") this.#finish(this.#create(raw, {}), raw);
      else if (kind === "message" && hasText(raw)) isAlone = true;
    }
    if (entries.all.length > 0 && (isAlone || alone.length > 0))
      this.#contradict("the complete answer has other items than the stream");
  }

  /** Removes the call that an entry repeats under other ids, if there is one. */
  #takeEqual(calls: Item[], raw: Json): boolean {
    const index = calls.findIndex(
      (item) => item.raw.name === raw.name && this.#calls.hasSaid(item.part as Part, raw),
    );
    if (index !== -1) calls.splice(index, 1);
    return index !== -1;
  }

  /** Checks that a repeated item equals the finished one. */
  #compare({ kind, part, raw: own }: Item, raw: Json): void {
    if (kind !== "function_call") return;
    if (isOtherCall(own, raw)) this.#contradict("the stream repeated a call as another");
    if (!this.#calls.hasSaid(part as Part, raw))
      this.#contradict("the stream repeated a call with other arguments");
  }

  #contradict(what: string): void {
    this.#facts.proof.contradict(what);
  }

  #find(event: Json, id: unknown): Item | undefined {
    const item = this.#known.get(typeof event.output_index === "number" ? event.output_index : id);
    const named = this.#byId.get(id);
    if (named !== undefined && named !== item)
      this.#contradict("the stream used the place of one item for another");
    return item;
  }

  /** Returns the open item, for servers that send neither index nor id. */
  #newest(event: Json, kind: Kind): Item | undefined {
    const item = typeof event.output_index === "number" ? undefined : this.#items.at(-1);
    return item?.kind === kind && !item.done ? item : undefined;
  }

  /**
   * Returns the item that a delta belongs to. Creates it if its start is missing and `text` is not
   * empty. Returns undefined if it has ended, which is a contradiction.
   */
  // Q189
  #itemFor(event: Json, kind: Kind, text: string): Item | undefined {
    const known = this.#find(event, event.item_id);
    if (known !== undefined && known.kind !== kind)
      this.#contradict("the stream had a piece for an item of another kind");
    if (known?.done && known.kind === kind)
      this.#contradict("the stream had a piece for an item that had ended");
    if (known?.kind === kind) return known.done ? undefined : known;
    const newest = this.#newest(event, kind);
    if (newest !== undefined || text === "") return newest;
    return this.#create({ type: kind, id: event.item_id }, event);
  }

  #create(raw: Json, event: Json): Item {
    const kind = kindOf(raw.type);
    const item: Item = {
      kind,
      raw,
      position: event.output_index,
      begun: false,
      done: false,
      texts: new Map(),
      part: this.#begin(kind, raw, event.output_index),
      sections: new Set(),
      section: undefined,
      from: 0,
    };
    this.#items.push(item);
    if (typeof event.output_index === "number") this.#known.set(event.output_index, item);
    else if (asText(raw.id) !== "") this.#known.set(raw.id, item);
    if (asText(raw.id) !== "") this.#byId.set(raw.id, item);
    return item;
  }

  #begin(kind: Kind, raw: Json, position: unknown): Part | undefined {
    switch (kind) {
      case "message":
        return undefined; // each of its texts is a part
      case "reasoning":
        return this.#parts.begin("thinking");
      case "function_call":
        return this.#calls.begin(raw, typeof position === "number" ? position : undefined);
      case "opaque":
        this.#tools.start(raw);
        return this.#parts.begin("opaque", "", raw);
    }
  }

  /** Ends an item. `isEnd` is false if only the answer ended, not the item. */
  #finish(item: Item, raw: Json, isEnd = true): void {
    item.done = true;
    const { part } = item;
    switch (item.kind) {
      case "message":
        this.#texts.finishMessage(item, raw);
        break;
      case "reasoning":
        this.#texts.finishReasoning(part as Part, raw);
        break;
      case "function_call":
        if (item.begun && isOtherCall(item.raw, raw))
          this.#contradict("the stream ended a call as another");
        this.#calls.finish(part as Part, raw, item.raw, isEnd);
        break;
      case "opaque":
        this.#tools.stop(raw);
        (part as Part).raw = raw;
        this.#parts.end(part as Part);
        break;
    }
    item.raw = raw;
  }
}

/** Returns whether two entries name different calls. */
function isOtherCall(one: Json, other: Json): boolean {
  return [
    [one.call_id, other.call_id],
    [one.name, other.name],
  ].some(([a, b]) => asText(a) !== "" && asText(b) !== "" && a !== b);
}
