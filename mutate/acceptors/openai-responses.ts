/**
 * Accepts OpenAI's Responses by its reference: numbered events, `response.created`, output items by
 * index, and `response.completed` (or incomplete, or failed) with a copy of everything. Streams
 * without numbers are compared with the copies only.
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

/** Statuses of an answer that cannot be used. */
const failureWords: readonly string[] = ["cancelled", "failed"];
const lastEvents = ["response.completed", "response.incomplete", "response.failed"];

export function acceptOpenaiResponses(body: Uint8Array): Verdict {
  return judge((doubt) => new ResponseStream(doubt).read(body));
}

class ResponseStream {
  readonly #doubt: Doubt;
  readonly #items: OutputItem[] = [];
  /** The current item of each index. Servers that do not count give all items the same index. */
  readonly #byIndex = new Map<unknown, OutputItem>();
  /** The parts of all items, in the order in which they first had text. */
  readonly #parts: Part[] = [];
  #events = 0;
  #number: unknown;
  #areNumbersInOrder = true;
  /** Whether a number was skipped, so an event is missing. */
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
      this.#doubt("response.created that is not the first event");
    const { response, output_index: index, item } = data;
    if (response !== undefined) {
      const { id } = asObject(response);
      if ((this.#responseId ??= id) !== id) this.#doubt("responses with different ids");
    }
    if (type === "response.output_item.added") return this.#begin(index, asObject(item));
    if (index === undefined) return;
    const own = this.#byIndex.get(index) ?? this.#missing(index, type, data);
    if (own === undefined) return;
    const id = data["item_id"] ?? asObject(item)["id"];
    // Progress events of the server's own tools are not part of the answer.
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
      this.#doubt("several items with one index");
    } else if (index !== this.#items.length)
      this.#doubt("indices of items that are not consecutive");
    this.#add(index, item).begin(item);
  }

  #add(index: unknown, item: Json): OutputItem {
    const made = new OutputItem(item, this.#doubt, this.#parts);
    this.#items.push(made);
    this.#byIndex.set(index, made);
    return made;
  }

  /** Proxies leave out the start of an item. */
  #missing(index: unknown, type: string, data: Json): OutputItem | undefined {
    const [item, part] = [asObject(data["item"]), asObject(data["part"])];
    const isText = item["type"] === undefined && !type.includes("arguments");
    const isEmpty = isText && asText(data["delta"]) + textOf(data) + textOf(part) === "";
    const kind = item["type"] ?? kindOf(type, part);
    if (kind === undefined || isEmpty) {
      this.#doubt("an empty piece of an item that has not begun");
      return undefined;
    }
    this.#doubt("an item that has not begun");
    return this.#add(index, { id: data["item_id"], ...item, type: kind });
  }

  /** Items are identified by index. GitHub Copilot encrypts every id anew. */
  #compareIds(id: unknown, own: OutputItem): void {
    if (id === undefined || id === own.id) return;
    const isOfAnother = this.#items.some((item) => item !== own && item.id === id);
    must(!isOfAnother, "the id of another item");
    this.#doubt("an id that differs from its start");
  }

  #end(type: string, { status, output, incomplete_details: details }: Json): Held {
    const said = type.slice("response.".length);
    if (status !== undefined && status !== said) {
      must(!lastEvents.includes(`response.${asText(status)}`), "a status that is not its event's");
      must(!failureWords.includes(asText(status)), "a status that is not its event's");
      this.#doubt("an unknown status", "text");
    }
    if (type === "response.failed") return this.#failed();
    const isCompleted = type === "response.completed";
    this.#compareOutput(asList(output).map(asObject), isCompleted);
    for (const item of this.#items) must(item.isSound(isCompleted), "an item that is not done");
    const calls = this.#items.flatMap((item) => item.call ?? []);
    const isNamed = calls.every(({ id, name }) => id !== "" && name !== "");
    must(isNamed, "a call without an id or a name");
    if (!areUnique(calls.map(({ id }) => id))) this.#doubt("two calls with one id");
    const isFiltered = asObject(details)["reason"] === "content_filter";
    if (isFiltered || this.#items.some(({ hasRefusal }) => hasRefusal)) return this.#failed();
    const ending = isCompleted ? "complete" : "cut";
    return { text: this.#text(), calls, ending };
  }

  #compareOutput(output: readonly Json[], isCompleted: boolean): void {
    const isLeftEmpty = output.length === 0 && isCompleted;
    // LiteLLM repeats a number and llama.cpp starts again; the copies show what was lost.
    must(!this.#isNumberMissing || !isLeftEmpty, "a gap in the numbers, and no copies");
    if (!this.#areNumbersInOrder) this.#doubt("sequence numbers that are not consecutive");
    // ChatGPT's own backend leaves it empty.
    if (isLeftEmpty) {
      if (this.#items.length > 0) this.#doubt("an empty output");
      return;
    }
    const copies = output.filter((copy) => !new OutputItem(copy, this.#doubt).isEmpty);
    // An item that only started may have all of its text in the output.
    const isLate = ({ isDone, id }: OutputItem): boolean =>
      !isDone && copies.some((copy) => copy["id"] === id);
    const own = this.#items.filter((item) => !item.isEmpty || isLate(item));
    for (const item of own) {
      const place = copies.findIndex((copy) => item.isOf(copy));
      must(place !== -1, "an output of other items than were sent");
      const [copy = {}] = copies.splice(place, 1);
      if (copy["id"] !== item.id) this.#doubt("an id that differs from its start");
      if (item.isDone) item.compare(copy);
      else {
        this.#doubt("an item that only the output ends");
        item.finish(copy);
      }
    }
    if (copies.length === 0) return;
    // Backends that cannot stream send their items at the end.
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

/** Returns the type of the item that an event belongs to. */
function kindOf(type: string, part: Json): string | undefined {
  if (type.includes("annotation")) return undefined;
  if (part["type"] === "reasoning_text") return "reasoning";
  if (type.startsWith("response.function_call_arguments")) return "function_call";
  if (/^response\.(?:output_text|refusal|content_part)/.test(type)) return "message";
  return type.startsWith("response.reasoning") ? "reasoning" : undefined;
}
