/**
 * Output items to parts. An item is known by its `output_index`, and only without one by its id,
 * which some servers change with each event; it is made on demand, and its end
 * says what it is.
 */
// Q187, Q185, Q189, Q186, Q188
import { asText } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { CallReader } from "./calls.ts";
import { kindOf, type Item, type Kind } from "./item.ts";
import { OutputList } from "./output-list.ts";
import { PartWriter, type Part } from "./parts.ts";
import { hasText, TextReader } from "./texts.ts";

type Json = Record<string, unknown>;

export class ItemAssembler {
  readonly #facts: ReaderFacts;
  readonly #parts: PartWriter;
  readonly #calls: CallReader;
  readonly #texts: TextReader;
  readonly #items: Item[] = [];
  readonly #known = new Map<unknown, Item>();
  /** By the id on the wire; undefined for one that several items have. */
  readonly #byId = new Map<unknown, Item | undefined>();

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#facts = facts;
    this.#parts = new PartWriter(writer);
    this.#calls = new CallReader(this.#parts, facts);
    this.#texts = new TextReader(this.#parts, facts.proof);
  }

  /** Whether a call was cut: the server says so, whatever its arguments look like. */
  // Q182
  get isCut(): boolean {
    return this.#calls.isCut;
  }

  get refused(): boolean {
    return this.#texts.refused;
  }

  added(event: Json, raw: Json): void {
    const item = this.#find(event, raw.id);
    const isOther = // nobody counts the items
      item?.done === true && item.raw.id !== raw.id && this.#byId.get(raw.id) !== item;
    const isKnown =
      item !== undefined && (item.begun || item.done || item.kind !== kindOf(raw.type));
    if (isKnown && !isOther) this.#contradict("the stream opened an item twice");
    if (item === undefined || item.done || item.kind !== kindOf(raw.type))
      this.#create(raw, event).begun = true;
    else if (item.kind !== "opaque") {
      item.raw = raw; // its deltas came first
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
    if (!isRepeated) this.#finish(this.#create(raw, event), raw); // a server that does not count its items
    else this.#compare(item, raw);
  }

  /** Text of a message: a piece, or the whole. */
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
    if (item === undefined || text === "") return; // no reason to open a part (Q072)
    this.#texts.add(item, event.content_index ?? 0, text, piece === undefined, isEnd);
  }

  /** A content part that begins or ends. Reasoning has events of its own. */
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
   * A summary, or the thoughts themselves: of a server that sends both, what comes first is shown.
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

  /** Arguments of a call: a piece, or the whole. */
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
   * The server is done with an item of its own. Its end comes next; what comes in its place need
   * not wait for it.
   */
  settled(event: Json): void {
    const part = this.#find(event, event.item_id)?.part;
    if (part?.kind === "opaque") part.isSettled = true;
  }

  /**
   * The answer is complete. `output` repeats it, or not: it counts for what did not come, or
   * did not end.
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

  /** Takes out the call that an entry repeats under other ids. */
  #takeEqual(calls: Item[], raw: Json): boolean {
    const index = calls.findIndex(
      (item) => item.raw.name === raw.name && this.#calls.hasSaid(item.part as Part, raw),
    );
    if (index !== -1) calls.splice(index, 1);
    return index !== -1;
  }

  /** An item that ended is what it is said to be once more. */
  #compare({ kind, part, raw: own }: Item, raw: Json): void {
    if (kind !== "function_call") return;
    if (isOtherCall(own, raw)) this.#contradict("the stream repeated a call as another");
    if (!this.#calls.hasSaid(part as Part, raw))
      this.#contradict("the stream gave one other arguments than it repeated");
  }

  #contradict(what: string): void {
    this.#facts.proof.contradict(what);
  }

  #find(event: Json, id: unknown): Item | undefined {
    const item = this.#known.get(typeof event.output_index === "number" ? event.output_index : id);
    const named = this.#byId.get(id);
    if (named !== undefined && named !== item)
      this.#contradict("the stream gave an item the place of another");
    return item;
  }

  /** Of a server that says neither place nor id: what is under way. */
  #newest(event: Json, kind: Kind): Item | undefined {
    const item = typeof event.output_index === "number" ? undefined : this.#items.at(-1);
    return item?.kind === kind && !item.done ? item : undefined;
  }

  /**
   * The item that a delta belongs to, made when its beginning went missing and `text` is
   * not empty; undefined when it has ended, which contradicts the delta.
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
    if (asText(raw.id) !== "") this.#byId.set(raw.id, this.#byId.has(raw.id) ? undefined : item);
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
        return this.#parts.begin("opaque", "", raw);
    }
  }

  /** `isEnd` says that this is its end, and not only the end of the answer. */
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
        (part as Part).raw = raw;
        this.#parts.end(part as Part);
        break;
    }
    item.raw = raw;
  }
}

/** Whether both name the call, and not the same one. */
function isOtherCall(one: Json, other: Json): boolean {
  return [
    [one.call_id, other.call_id],
    [one.name, other.name],
  ].some(([a, b]) => asText(a) !== "" && asText(b) !== "" && a !== b);
}
