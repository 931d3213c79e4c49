/**
 * OpenAI's Responses, by its reference: events numbered one after the other, `response.created`,
 * output items by index, `response.completed` (or incomplete, or failed) with all of it again.
 * Streams without numbers are held against the copies only.
 */
import { readEvents } from "../event-stream.ts";
import { OutputItem } from "./responses-item.ts";
import {
  areUnique,
  asList,
  asObject,
  asText,
  Illegal,
  judge,
  must,
  parseObject,
  type Held,
  type Json,
  type Verdict,
} from "./verdict.ts";

const lastEvents = ["response.completed", "response.incomplete", "response.failed"];

export function acceptOpenaiResponses(body: Uint8Array): Verdict {
  return judge((doubt) => new ResponseStream(doubt).read(body));
}

class ResponseStream {
  readonly #doubt: (reason: string) => void;
  readonly #items: OutputItem[] = [];
  #events = 0;
  #number: unknown;
  #areNumbersInOrder = true;
  #responseId: unknown;
  /** How often an id was that of its beginning, and how often another. */
  #sameIds = 0;
  #otherIds = 0;

  constructor(doubt: (reason: string) => void) {
    this.#doubt = doubt;
  }

  read(body: Uint8Array): Held {
    for (const event of readEvents(body)) {
      let data: Json;
      try {
        data = parseObject(event.data);
      } catch (error) {
        must(!event.isCut, "ends within an event");
        throw error;
      }
      const type = asText(data["type"]);
      must(event.name === undefined || event.name === type, "an event under another name");
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
    const next = typeof this.#number === "number" ? this.#number + 1 : undefined;
    if (this.#events++ > 0 && number !== next) this.#areNumbersInOrder = false;
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
    if (type === "response.output_item.added") {
      must(index === this.#items.length, "an item whose index is not the next one");
      this.#items.push(new OutputItem(asObject(item), this.#doubt));
      return;
    }
    if (index === undefined) return;
    const own = this.#items[Number(index)];
    must(own !== undefined, "an event of an item that has not begun");
    must(!own.isDone, "an event of an item that is done");
    if (type === "response.output_item.done") {
      this.#compareIds(asObject(item)["id"], own.id);
      own.finish(asObject(item));
    } else {
      if (data["item_id"] !== undefined) this.#compareIds(data["item_id"], own.id);
      own.take(type, data);
    }
  }

  #compareIds(id: unknown, begun: unknown): void {
    if (id === begun) this.#sameIds++;
    else this.#otherIds++;
  }

  #end(type: string, { status, output, incomplete_details: details }: Json): Held {
    const said = type.slice("response.".length);
    must(status === undefined || status === said, "a status that is not its event's");
    if (type === "response.failed") return this.#failed();
    this.#compareOutput(asList(output).map(asObject), type === "response.completed");
    must(this.#otherIds === 0 || this.#sameIds === 0, "an id that is not that of its beginning");
    // GitHub Copilot encrypts every id anew.
    if (this.#otherIds > 0) this.#doubt("ids that are never the same");
    const calls = this.#items.flatMap((item) => item.call ?? []);
    if (!areUnique(calls.map(({ id }) => id))) this.#doubt("two calls of one id");
    const isFiltered = asObject(details)["reason"] === "content_filter";
    if (isFiltered || this.#items.some(({ hasRefusal }) => hasRefusal)) return this.#failed();
    const ending = type === "response.completed" ? "complete" : "cut";
    return { text: this.#text(), calls, ending };
  }

  #compareOutput(output: readonly Json[], isCompleted: boolean): void {
    const isLeftEmpty = output.length === 0 && isCompleted;
    // LiteLLM repeats a number, llama.cpp begins again; what was lost shows in the copies.
    must(this.#areNumbersInOrder || !isLeftEmpty, "a gap in the numbers, and no copies");
    if (!this.#areNumbersInOrder) this.#doubt("sequence numbers that do not follow");
    // ChatGPT's own backend leaves it empty.
    if (isLeftEmpty && this.#items.length > 0) this.#doubt("an output that was left empty");
    else must(output.length === this.#items.length, "an output of other items than were sent");
    this.#items.forEach((item, n) => {
      const copy = output[n];
      if (copy !== undefined) {
        this.#compareIds(copy["id"], item.id);
        item.compare(copy);
      }
      must(item.isDone || !item.isAnswer || !isCompleted, "an item that is not done");
    });
  }

  #text(): string {
    return this.#items.map(({ text }) => text).join("");
  }
}
