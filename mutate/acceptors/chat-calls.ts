/**
 * Accepts the calls of a chat answer. By the reference, `index` is the position in the message's
 * list of calls. The first fragment of a call has its id and name, the others only arguments.
 */
import {
  areUnique,
  asObject,
  asText,
  must,
  type Doubt,
  type Held,
  type HeldCall,
  type Json,
} from "./verdict.ts";

interface OpenCall {
  readonly index: number;
  id: string;
  name: string;
  arguments: string;
  /** How many fragments followed the first, and how many of them repeated the id and the name. */
  fragments: number;
  restated: number;
  /** Whether whole arguments came twice. */
  isTwice: boolean;
  /** The last fragment, while each one begins with the previous one. */
  snapshot: string | undefined;
}

export class ChatCalls {
  readonly #doubt: Doubt;
  readonly #calls: OpenCall[] = [];
  #isLegacy = false;

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Adds a fragment of `tool_calls`. */
  add({ index, id, function: fn }: Json): void {
    must(Number.isInteger(index) && Number(index) >= 0, "a fragment of a call without an index");
    const { name, arguments: args } = asObject(fn);
    this.#fragment(Number(index), asText(id), asText(name), asText(args));
  }

  /** Adds a fragment of `function_call`, the old form with a single call. */
  addLegacy({ name, arguments: args }: Json): void {
    this.#isLegacy = true;
    this.#fragment(0, "", asText(name), asText(args));
  }

  /** Returns the calls of an answer that ended. Throws for calls that the wire does not allow. */
  whole(ending: Held["ending"]): HeldCall[] {
    if (ending === "failed") return [];
    const indices = [...new Set(this.#calls.map(({ index }) => index))].toSorted((a, b) => a - b);
    const [first = 0] = indices;
    // Bridges also count other things, such as the text blocks of Claude.
    if (!indices.every((index, n) => index === first + n)) this.#doubt("a gap between indices");
    if (first > 0) this.#doubt("calls counted from another number than 0");
    const ids = this.#calls.map(({ id }) => id);
    if (!this.#isLegacy && ids.includes("")) this.#doubt("a call without an id");
    if (!this.#isLegacy && !areUnique(ids.filter((id) => id !== "")))
      this.#doubt("two calls with one id");
    for (const call of this.#calls) {
      this.#checkRestated(call);
      must(call.name !== "" || call.id !== "", "a fragment of a call that has not begun");
      // Gateways send everything so far with each fragment.
      if (!isJson(call.arguments) && isObjectText(call.snapshot ?? "")) {
        this.#doubt("arguments that are sent from the beginning each time");
        call.arguments = call.snapshot ?? "";
      }
    }
    return this.#calls
      .toSorted((a, b) => a.index - b.index)
      .map(({ id, name, arguments: args, isTwice }) => ({
        id: id || undefined,
        name,
        arguments: args,
        ...(isTwice && { mayBeRefused: true }),
      }));
  }

  #fragment(index: number, id: string, name: string, args: string): void {
    const call = this.#calls.findLast((one) => one.index === index);
    const isBegun = call !== undefined && call.name !== "";
    if (call === undefined && id + name + args === "") return this.#doubt("an empty call");
    if (call === undefined || (isBegun && id !== "" && id !== call.id && name !== "")) {
      if (name === "") this.#doubt("a fragment of a call that has no name yet");
      // Ollama gave every call the index 0. Each came whole, so they can be distinguished.
      if (call !== undefined) {
        must(isClosed(call.arguments), "two calls at one index");
        this.#doubt("two whole calls at one index");
      }
      const counts = { fragments: 0, restated: 0, isTwice: false, snapshot: args };
      this.#calls.push({ index, id, name, arguments: args, ...counts });
      return;
    }
    // Servers that flush what they have send whole arguments once more.
    const isWhole = isObjectText(args) || args.trim() === "null";
    if (isWhole && args.trim() === call.arguments.trim()) {
      call.isTwice = true;
      return this.#doubt("whole arguments that are sent twice");
    }
    // LiteLLM sends an empty object before the arguments of some servers.
    if (call.arguments === "{}" && args.startsWith("{")) {
      call.arguments = "";
      this.#doubt("a placeholder before the arguments");
    }
    if (call.snapshot !== undefined && args !== "")
      call.snapshot = args.startsWith(call.snapshot) ? args : undefined;
    if (!isBegun) {
      call.name = name;
      call.id ||= id;
      call.arguments += args;
      return;
    }
    // Poolside creates an id for each fragment.
    if (id !== "" && id !== call.id) this.#doubt("a fragment with another id than its call");
    must(name === "" || name === call.name, "a fragment with another name than its call");
    const isRestated = name !== "" || id === call.id;
    if (isRestated && args === "") return this.#doubt("a call named again, without arguments");
    if (args !== "") call.fragments++;
    if (isRestated) call.restated++;
    call.arguments += args;
  }

  /** Some servers send id and name with every fragment. No server repeats them in only some. */
  #checkRestated({ restated, fragments }: OpenCall): void {
    if (restated === 0) return;
    must(restated === fragments, "a call that begins twice");
    this.#doubt("a call named in each fragment");
  }
}

function isObjectText(text: string): boolean {
  return isJson(text) && text.trim().startsWith("{");
}

/** Returns whether a text starts and ends like an object or a list. */
function isClosed(text: string): boolean {
  return /^\s*[{[][^]*[}\]]\s*$/.test(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
