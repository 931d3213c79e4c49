/**
 * The calls of a chat answer. The reference: `index` is the place in the message's list of calls;
 * the first fragment of a call has its id and name, the others have arguments only.
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
  /** Fragments behind the first: all of them, and those that had the id and the name again. */
  fragments: number;
  restated: number;
  /** Whether whole arguments came twice. */
  isTwice: boolean;
  /** The last fragment, while each began with the one before it. */
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

  /** A fragment of `tool_calls`. */
  add({ index, id, function: fn }: Json): void {
    must(Number.isInteger(index) && Number(index) >= 0, "a fragment of a call without an index");
    const { name, arguments: args } = asObject(fn);
    this.#fragment(Number(index), asText(id), asText(name), asText(args));
  }

  /** A fragment of `function_call`, as it was before there were several calls. */
  addLegacy({ name, arguments: args }: Json): void {
    this.#isLegacy = true;
    this.#fragment(0, "", asText(name), asText(args));
  }

  /** The calls of an answer that ended; throws for calls that the wire does not allow. */
  whole(ending: Held["ending"]): HeldCall[] {
    if (ending === "failed") return [];
    const indices = [...new Set(this.#calls.map(({ index }) => index))].toSorted((a, b) => a - b);
    const [first = 0] = indices;
    // Bridges count what else they have, such as the text blocks of Claude.
    if (!indices.every((index, n) => index === first + n)) this.#doubt("a gap between indices");
    if (first > 0) this.#doubt("calls counted from another number than 0");
    const ids = this.#calls.map(({ id }) => id);
    if (!this.#isLegacy && ids.includes("")) this.#doubt("a call without an id");
    if (!this.#isLegacy && !areUnique(ids.filter((id) => id !== "")))
      this.#doubt("two calls of one id");
    for (const call of this.#calls) {
      this.#checkRestated(call);
      must(call.name !== "" || call.id !== "", "a fragment of a call that has not begun");
      // Gateways send all there is with each fragment.
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
      // Ollama gave every call the index 0. Each came whole, so they can be told apart.
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
    // Poolside makes an id for each fragment.
    if (id !== "" && id !== call.id) this.#doubt("a fragment with another id than its call");
    must(name === "" || name === call.name, "a fragment with another name than its call");
    const isRestated = name !== "" || id === call.id;
    if (isRestated && args === "") return this.#doubt("a call named again, without arguments");
    if (args !== "") call.fragments++;
    if (isRestated) call.restated++;
    call.arguments += args;
  }

  /** Servers that send id and name with every fragment are known; once more is not. */
  #checkRestated({ restated, fragments }: OpenCall): void {
    if (restated === 0) return;
    must(restated === fragments, "a call that begins twice");
    this.#doubt("a call named in each fragment");
  }
}

function isObjectText(text: string): boolean {
  return isJson(text) && text.trim().startsWith("{");
}

/** Whether a text has the ends of an object or a list. */
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
