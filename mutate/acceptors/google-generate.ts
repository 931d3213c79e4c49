/**
 * Accepts Gemini's streamed generateContent: chunks of one candidate with parts in order, a finish
 * reason when "the model stopped generating tokens", then the end of the body. Vertex streams the
 * arguments of a call in parts, each of which says whether more follow.
 */
import { parseJsonText, type JsonNode } from "../json-text.ts";
import { readEvents } from "../event-stream.ts";
import { StreamedArguments } from "./google-arguments.ts";
import {
  areUnique,
  asList,
  asObject,
  asText,
  judge,
  must,
  parseObject,
  type Doubt,
  type Held,
  type HeldCall,
  type Json,
  type Verdict,
} from "./verdict.ts";

/** The failures that the reference lists. */
const failures = [
  "SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|MALFORMED_FUNCTION_CALL|MODEL_ARMOR",
  "IMAGE_SAFETY|IMAGE_PROHIBITED_CONTENT|IMAGE_OTHER|NO_IMAGE|IMAGE_RECITATION|MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE",
].flatMap((line) => line.split("|"));
const endings: ReadonlyMap<unknown, Held["ending"]> = new Map([
  ["STOP", "complete"],
  // "Unknown reason", which is doubted below.
  ["OTHER", "complete"],
  ["MAX_TOKENS", "cut"],
  ["CONTINUATION", "cut"],
  ...failures.map((reason) => [reason, "failed"] as const),
]);

export function acceptGoogleGenerate(body: Uint8Array): Verdict {
  return judge((doubt) => new GenerateStream(doubt).read(body));
}

class GenerateStream {
  readonly #doubt: Doubt;
  /** The data of the current chunk. Numbers are read from it digit by digit. */
  #data = "";
  #candidate: unknown;
  /** The other candidates by index. The value is true if the candidate lacks a finish reason. */
  readonly #others = new Map<unknown, boolean>();
  #text = "";
  readonly #calls: HeldCall[] = [];
  #open: StreamedArguments | undefined;
  #reason: unknown;
  #ending: Held["ending"] = "complete";
  readonly #responseIds = new Set<unknown>();
  #isBlocked = false;
  /** Whether the reason came with every chunk, as Gemini 1.0 sends it. */
  #hasReasonAlways = true;

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
  }

  read(body: Uint8Array): Held {
    for (const { data, isCut } of readEvents(body, this.#doubt)) {
      if (isCut) this.#doubt("the last event lacks its empty line");
      let chunk: Json;
      try {
        chunk = parseObject(data);
      } catch (error) {
        if (!isCut) throw error;
        must(this.#reason !== undefined, "ends within an event");
        break;
      }
      if (chunk["error"] != null) return { text: this.#text, calls: [], ending: "failed" };
      this.#identify(chunk);
      if (asObject(chunk["promptFeedback"])["blockReason"] != null) this.#isBlocked = true;
      this.#data = data;
      const node = parseJsonText(data);
      asList(chunk["candidates"])
        .map(asObject)
        .forEach((candidate, n) => this.#take(candidate, at(node, "candidates", n)));
    }
    return this.#end();
  }

  #identify({ responseId }: Json): void {
    if (responseId != null) this.#responseIds.add(responseId);
    if (this.#responseIds.size > 1) this.#doubt("chunks with different ids");
  }

  #take(candidate: Json, node: JsonNode | undefined): void {
    const { index = 0, content, finishReason: reason } = candidate;
    if (index !== 0) this.#doubt("a candidate of another index");
    if ((this.#candidate ??= index) !== index) return this.#takeOther(candidate);
    let hasContent = false;
    asList(asObject(content)["parts"])
      .map(asObject)
      .forEach((part, n) => {
        if (this.#part(part, at(node, "content", "parts", n, "functionCall"))) hasContent = true;
      });
    if (reason == null) this.#hasReasonAlways = false;
    // Proxies in front of other models send STOP with every chunk that has no content.
    if (hasContent && this.#reason !== undefined && !this.#hasReasonAlways)
      this.#doubt("content after the finish reason");
    if (reason == null) return;
    // Proxies send this with every chunk but the last.
    if (reason === "FINISH_REASON_UNSPECIFIED") {
      must(this.#reason === undefined, "a finish reason that is withdrawn");
      return this.#doubt("a finish reason for an unfinished answer");
    }
    const ending = endings.get(reason);
    must(ending !== undefined, "an unknown finish reason");
    must(this.#reason === undefined || this.#reason === reason, "a second finish reason");
    if (reason === "OTHER") this.#doubt("a finish reason without a meaning");
    [this.#reason, this.#ending] = [reason, ending];
  }

  /**
   * Handles another candidate. Servers that ignore the requested number send several, each with its
   * own finish reason.
   */
  #takeOther({ index, content, finishReason: reason }: Json): void {
    const hasParts = asList(asObject(content)["parts"]).length > 0;
    this.#others.set(index, reason == null && (hasParts || this.#others.get(index) === true));
  }

  /** Returns whether the part has any content of the answer. */
  #part(part: Json, node: JsonNode | undefined): boolean {
    const { text, thought, functionCall } = part;
    if (functionCall !== undefined) return this.#call(asObject(functionCall), node);
    if (text === undefined) return true; // an image, code
    if (text !== "" && this.#open !== undefined) this.#doubt("text within the arguments of a call");
    if (thought !== true) this.#text += asText(text);
    return text !== "";
  }

  #call(call: Json, node: JsonNode | undefined): boolean {
    const { id, name, partialArgs, willContinue } = call;
    // Vertex leaves out the part that ends a call.
    if (this.#open !== undefined && name !== undefined)
      this.#endOpen("a call that the next one ends");
    if (this.#open === undefined && name === undefined) {
      must(Object.keys(call).length === 0, "arguments of a call that has not begun");
      this.#doubt("the end of a call that is not open");
      return false;
    }
    must(name === undefined || asText(name) !== "", "a call without a name");
    if (this.#open === undefined && partialArgs === undefined && willContinue !== true) {
      const args = at(node, "args");
      const text = args === undefined ? "{}" : this.#data.slice(args.start, args.end);
      this.#calls.push({ id: asText(id) || undefined, name: asText(name), arguments: text });
      return true;
    }
    this.#open ??= new StreamedArguments(asText(id) || undefined, asText(name));
    this.#open.add(asList(partialArgs).map(asObject), at(node, "partialArgs"), this.#data);
    if (willContinue === true) return true;
    this.#calls.push(this.#open.end());
    this.#open = undefined;
    return true;
  }

  #endOpen(doubt: string): void {
    this.#doubt(doubt);
    if (this.#open !== undefined) this.#calls.push(this.#open.end());
    this.#open = undefined;
  }

  #end(): Held {
    if (this.#isBlocked) return { text: this.#text, calls: [], ending: "failed" };
    must(this.#reason !== undefined, "ends without a finish reason");
    const isOpen = [...this.#others.values()].includes(true);
    must(!isOpen, "a candidate that was not requested, without an end");
    if (this.#open !== undefined) this.#endOpen("a call that the end of the answer ends");
    const ids = this.#calls.flatMap(({ id }) => id ?? []);
    if (!areUnique(ids)) this.#doubt("two calls with one id");
    const ending = this.#ending;
    return { text: this.#text, calls: ending === "failed" ? [] : this.#calls, ending };
  }
}

/** Returns the value at a path, or undefined. */
function at(node: JsonNode | undefined, ...path: (string | number)[]): JsonNode | undefined {
  let found = node;
  for (const key of path) {
    if (found?.kind === "object") found = found.entries.get(String(key));
    else if (found?.kind === "array") found = found.items[Number(key)];
    else return undefined;
  }
  return found;
}
