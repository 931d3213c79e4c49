/** A store that gives a wrong answer to one call, which the conformance kit must detect. */
import { BowlineError } from "../../src/errors.ts";
import type { AnyEntry } from "../../src/session/entry.ts";
import type { SessionWriter, Store } from "../../src/session/store.ts";

/**
 * `wrong`: returns another answer. `lost`: reports success without doing anything. Instead of an
 * error, `accepted` returns an answer, and `other code` throws an error with another code.
 */
export type Lie = "wrong" | "lost" | "accepted" | "other code";

type Method = keyof Store | "append" | "close";

/** Returns the possible wrong answers to a call. Writers of a store are handled by `writers`. */
export function liesOf({ method, isRejected }: Call): Lie[] {
  if (isRejected) return ["accepted", "other code"];
  if (method === "append" || method === "delete") return ["lost"];
  return ["load", "list", "holder", "read", "follow"].includes(method) ? ["wrong"] : [];
}

export interface Call {
  readonly method: Method;
  isRejected: boolean;
}

export class LyingStore {
  /** The calls of the store and its writers, in the order of their start. */
  readonly calls: Call[] = [];
  readonly #at: number;
  readonly #lie: Lie | undefined;
  readonly #writers: Partial<SessionWriter>;

  /** Answers call number `at` wrongly. Overrides properties of all writers with `writers`. */
  constructor(at = -1, lie?: Lie, writers: Partial<SessionWriter> = {}) {
    this.#at = at;
    this.#lie = lie;
    this.#writers = writers;
  }

  wrap(store: Store): Store {
    return {
      create: (...args) => this.#ask("create", async () => this.#hide(await store.create(...args))),
      open: (id) => this.#ask("open", async () => this.#hide(await store.open(id))),
      load: (id) => this.#ask("load", () => store.load(id)),
      delete: (id) => this.#ask("delete", () => store.delete(id)),
      list: (options) => this.#ask("list", () => store.list(options)),
      holder: (id) => this.#ask("holder", () => store.holder(id)),
      read: (id, options) => this.#iterate("read", store.read(id, options)),
      follow: (id, options) => this.#iterate("follow", store.follow(id, options)),
    };
  }

  #hide(writer: SessionWriter): SessionWriter {
    const lies = this.#writers;
    const append: SessionWriter["append"] = (all) => this.#ask("append", () => writer.append(all));
    const close: SessionWriter["close"] = () => this.#ask("close", () => writer.close());
    return new Proxy(writer, {
      get: (_, name) => {
        if (name === "append") return append;
        if (name === "close") return close;
        if (name in lies) return Reflect.get(lies, name) as unknown;
        return Reflect.get(writer, name) as unknown;
      },
    });
  }

  /** Records a call. Returns the lie if it is for this call. */
  #begin(call: Call): Lie | undefined {
    return this.calls.push(call) - 1 === this.#at ? this.#lie : undefined;
  }

  async #ask<T>(method: Method, work: () => Promise<T>): Promise<T> {
    const call: Call = { method, isRejected: false };
    const lie = this.#begin(call);
    if (lie === "lost") return undefined as T;
    try {
      const answer = await work();
      return lie === "wrong" ? (otherThan(method, answer) as T) : answer;
    } catch (error) {
      call.isRejected = true;
      if (lie === "accepted") return undefined as T;
      throw lie === "other code" ? otherError() : error;
    }
  }

  async *#iterate(
    method: Method,
    batches: AsyncIterable<readonly AnyEntry[]>,
  ): AsyncGenerator<readonly AnyEntry[]> {
    const call: Call = { method, isRejected: false };
    const lie = this.#begin(call);
    let isTold = lie !== "wrong";
    try {
      for await (const [first, ...others] of batches) {
        if (first === undefined) continue;
        yield isTold ? [first, ...others] : [{ ...first, timestamp: -1 }, ...others];
        isTold = true;
      }
      if (!isTold) yield [{ seq: 0, id: "e", parentId: null, timestamp: 0, type: "x" }];
    } catch (error) {
      call.isRejected = true;
      if (lie !== "accepted") throw lie === "other code" ? otherError() : error;
    }
  }
}

function otherError(): BowlineError {
  return new BowlineError("storage_failed", "The store lies.");
}

/** Returns a different answer of the same shape. */
function otherThan(method: Method, answer: unknown): unknown {
  if (method === "load") return { ...(answer as object), createdAt: -1 };
  if (method === "holder")
    return answer === undefined ? { isThisProcess: true, since: 1 } : undefined;
  const { sessions, ...rest } = answer as Awaited<ReturnType<Store["list"]>>;
  const ghost = { id: "ghost", createdAt: 1, updatedAt: 1, entryCount: 0, messageCount: 0 };
  return { ...rest, sessions: [...sessions.slice(1), ghost] };
}
