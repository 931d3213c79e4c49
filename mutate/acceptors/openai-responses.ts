/**
 * OpenAI's Responses, by its reference: events numbered one after the other, `response.created`,
 * output items by index, `response.completed` (or incomplete, or failed) with all of it again.
 * Streams without numbers are held against the copies only.
 */
import { readEvents } from "../event-stream.ts";
import { OutputItem, textOf, type Part } from "./responses-item.ts";
import {
  areUnique,
  asList,
  asObject,
  asText,
  Illegal,
  judge,
  must,
  parseObject,
  type Doubt,
  type Held,
  type Json,
  type Verdict,
} from "./verdict.ts";

/** Statuses that say that nothing can be made of the answer. */
const failureWords: readonly string[] = ["cancelled", "failed"];
const lastEvents = ["response.completed", "response.incomplete", "response.failed"];

export function acceptOpenaiResponses(body: Uint8Array): Verdict {
  return judge((doubt) => new ResponseStream(doubt).read(body));
}

class ResponseStream {
  readonly #doubt: Doubt;
  readonly #items: OutputItem[] = [];
  /** The item that has an index now: servers that do not count give each the same. */
  readonly #byIndex = new Map<unknown, OutputItem>();
  /** The parts of all items, in the order in which they had text. */
  readonly #parts: Part[] = [];
  #events = 0;
  #number: unknown;
  #areNumbersInOrder = true;
  /** Whether a number was left out: then an event is missing. */
  #isNumberMissing = false;
  #responseId: unknown;

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
  }

  read(body: Uint8Array): Held {
    for (const event of readEvents(body, this.#doubt)) {
      let data: Json;
      try {
        data = parseObject(event.data);
      } catch (error) {
        must(!event.isCut, "ends within an event");
        throw error;
      }
      const type = asText(data["type"]);
      if ((event.name ?? type) !== type) this.#doubt("an event under another name");
      if (type === "error") return this.#failed();
      this.#count(data);
      this.#take(type, data);
      if (lastEvents.includes(type)) return this.#end(type, asObject(data["response"]));
    }
    throw new Illegal("ends without response.completed");
  }

  #failed(): Held {
    return { text: this.#text(), calls: [], ending: "failed" };
  }

  /** "The sequence number of this event"; some servers have none. */
  #count({ sequence_number: number }: Json): void {
    if (this.#events++ > 0) {
      const next = typeof this.#number === "number" ? this.#number + 1 : undefined;
      if (number !== next) this.#areNumbersInOrder = false;
      if (Number(number) > Number(next)) this.#isNumberMissing = true;
    }
    this.#number = number;
  }

  #take(type: string, data: Json): void {
    const isCreated = type === "response.created";
    if ((this.#events === 1) !== isCreated)
      this.#doubt("response.created in another place than the first");
    const { response, output_index: index, item } = data;
    if (response !== undefined) {
      const { id } = asObject(response);
      if ((this.#responseId ??= id) !== id) this.#doubt("responses of several ids");
    }
    if (type === "response.output_item.added") return this.#begin(index, asObject(item));
    if (index === undefined) return;
    const own = this.#byIndex.get(index) ?? this.#missing(index, type, data);
    if (own === undefined) return;
    const id = data["item_id"] ?? asObject(item)["id"];
    // What says how the server's own work goes on is no part of the answer.
    const isProgress = item === undefined && kindOf(type, asObject(data["part"])) === undefined;
    if (isProgress && id !== own.id) this.#doubt("progress of another item");
    if (isProgress) return;
    this.#compareIds(id, own);
    if (type === "response.output_item.done") own.finish(asObject(item));
    else own.take(type, data);
  }

  #begin(index: unknown, item: Json): void {
    const known = this.#byIndex.get(index);
    if (known?.isBegun === false && !known.isDone) return known.begin(item);
    if (known !== undefined) {
      must(known.isDone && known.id !== item["id"], "an item that begins twice");
      this.#doubt("several items of one index");
    } else if (index !== this.#items.length) this.#doubt("indices of items that do not follow");
    this.#add(index, item).begin(item);
  }

  #add(index: unknown, item: Json): OutputItem {
    const made = new OutputItem(item, this.#doubt, this.#parts);
    this.#items.push(made);
    this.#byIndex.set(index, made);
    return made;
  }

  /** Proxies leave out how an item begins. */
  #missing(index: unknown, type: string, data: Json): OutputItem | undefined {
    const [item, part] = [asObject(data["item"]), asObject(data["part"])];
    const isText = item["type"] === undefined && !type.includes("arguments");
    const isEmpty = isText && asText(data["delta"]) + textOf(data) + textOf(part) === "";
    const kind = item["type"] ?? kindOf(type, part);
    if (kind === undefined || isEmpty) {
      this.#doubt("nothing, for an item that has not begun");
      return undefined;
    }
    this.#doubt("an item that has not begun");
    return this.#add(index, { id: data["item_id"], ...item, type: kind });
  }

  /** Items are known by their index; GitHub Copilot encrypts every id anew. */
  #compareIds(id: unknown, own: OutputItem): void {
    if (id === undefined || id === own.id) return;
    const isOfAnother = this.#items.some((item) => item !== own && item.id === id);
    must(!isOfAnother, "the id of another item");
    this.#doubt("an id that is not that of its beginning");
  }

  #end(type: string, { status, output, incomplete_details: details }: Json): Held {
    const said = type.slice("response.".length);
    if (status !== undefined && status !== said) {
      must(!lastEvents.includes(`response.${asText(status)}`), "a status that is not its event's");
      must(!failureWords.includes(asText(status)), "a status that is not its event's");
      this.#doubt("a status that is not known", "text");
    }
    if (type === "response.failed") return this.#failed();
    const isCompleted = type === "response.completed";
    this.#compareOutput(asList(output).map(asObject), isCompleted);
    for (const item of this.#items) must(item.isSound(isCompleted), "an item that is not done");
    const calls = this.#items.flatMap((item) => item.call ?? []);
    const isNamed = calls.every(({ id, name }) => id !== "" && name !== "");
    must(isNamed, "a call without an id or a name");
    if (!areUnique(calls.map(({ id }) => id))) this.#doubt("two calls of one id");
    const isFiltered = asObject(details)["reason"] === "content_filter";
    if (isFiltered || this.#items.some(({ hasRefusal }) => hasRefusal)) return this.#failed();
    const ending = isCompleted ? "complete" : "cut";
    return { text: this.#text(), calls, ending };
  }

  #compareOutput(output: readonly Json[], isCompleted: boolean): void {
    const isLeftEmpty = output.length === 0 && isCompleted;
    // LiteLLM repeats a number, llama.cpp begins again; what was lost shows in the copies.
    must(!this.#isNumberMissing || !isLeftEmpty, "a gap in the numbers, and no copies");
    if (!this.#areNumbersInOrder) this.#doubt("sequence numbers that do not follow");
    // ChatGPT's own backend leaves it empty.
    if (isLeftEmpty) {
      if (this.#items.length > 0) this.#doubt("an output that was left empty");
      return;
    }
    const copies = output.filter((copy) => !new OutputItem(copy, this.#doubt).isEmpty);
    // What only began may have all of its text in the output.
    const isLate = ({ isDone, id }: OutputItem): boolean =>
      !isDone && copies.some((copy) => copy["id"] === id);
    const own = this.#items.filter((item) => !item.isEmpty || isLate(item));
    for (const item of own) {
      const place = copies.findIndex((copy) => item.isOf(copy));
      must(place !== -1, "an output of other items than were sent");
      const [copy = {}] = copies.splice(place, 1);
      if (copy["id"] !== item.id) this.#doubt("an id that is not that of its beginning");
      if (item.isDone) item.compare(copy);
      else {
        this.#doubt("an item that only the output ends");
        item.finish(copy);
      }
    }
    if (copies.length === 0) return;
    // Backends that cannot stream send what they have at the end.
    this.#doubt("an item that was not streamed");
    const isCalling = copies.every(({ type }) => type === "function_call");
    const isSilent = own.every(({ type }) => type !== "message");
    must(isSilent || isCalling, "an output of other items than were sent");
    for (const copy of copies) this.#add(undefined, copy).finish(copy);
  }

  #text(): string {
    const texts = this.#parts.filter(({ type }) => type === "output_text");
    return texts.map(({ text }) => text).join("");
  }
}

/** The type of the item that an event is of. */
function kindOf(type: string, part: Json): string | undefined {
  if (type.includes("annotation")) return undefined;
  if (part["type"] === "reasoning_text") return "reasoning";
  if (type.startsWith("response.function_call_arguments")) return "function_call";
  if (/^response\.(?:output_text|refusal|content_part)/.test(type)) return "message";
  return type.startsWith("response.reasoning") ? "reasoning" : undefined;
}
