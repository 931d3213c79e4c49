/** Compares the tools' ledger with the sessions whenever the server is dead. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSession, type AnyEntry } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";

export class ToolWatch {
  executions = 0;
  /** Calls that were in flight at a kill. It is unknown whether they took effect. */
  unknown = 0;
  readonly #folder: string;
  readonly #sessions: readonly string[];
  /** The number of executions of each call at the time of its recorded result. */
  #settled = new Map<string, number>();

  constructor(folder: string, sessions: readonly string[]) {
    this.#folder = folder;
    this.#sessions = sessions;
  }

  /** Returns the faults found. */
  async look(): Promise<string[]> {
    const faults: string[] = [];
    const ran = this.#ledger();
    const [intents, results] = [new Set<string>(), new Set<string>()];
    for (const entry of await this.#entries()) {
      const { type, idempotencyKey } = entry as AnyEntry & { readonly idempotencyKey: string };
      if (type === "tool_intent") intents.add(idempotencyKey);
      if (type === "tool_result") results.add(idempotencyKey);
    }
    for (const [key, { name, times }] of ran) {
      if (!intents.has(key)) faults.push(`${name} ${key} ran and nothing says so`);
      if (times > 1 && name !== "look") faults.push(`${name} ${key} ran ${times} times`);
      const before = this.#settled.get(key);
      if (before !== undefined && before !== times)
        faults.push(`${name} ${key} ran again, and its result was recorded`);
    }
    this.#settled = new Map([...results].map((key) => [key, ran.get(key)?.times ?? 0]));
    this.executions = ran.size;
    this.unknown = [...intents].filter((key) => !results.has(key)).length;
    return faults;
  }

  async #entries(): Promise<AnyEntry[]> {
    const store = createJsonlStore(join(this.#folder, "sessions"));
    const all: AnyEntry[] = [];
    for (const key of this.#sessions) {
      const session = await openSession(store, key, { readOnly: true }).catch(() => undefined);
      if (session === undefined) continue; // not begun
      for await (const entry of session.entries()) all.push(entry);
    }
    return all;
  }

  #ledger(): Map<string, { readonly name: string; readonly times: number }> {
    const path = join(this.#folder, "ledger");
    const ran = new Map<string, { readonly name: string; readonly times: number }>();
    for (const line of existsSync(path)
      ? readFileSync(path, "utf8").split("\n").slice(0, -1)
      : []) {
      const [name = "", key = ""] = line.split(" ");
      ran.set(key, { name, times: (ran.get(key)?.times ?? 0) + 1 });
    }
    return ran;
  }
}
