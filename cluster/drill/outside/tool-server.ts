/** The service that tools use. Each request has its effect at once, and an answer later. */
import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Ledger, ToolUse } from "./ledger.ts";

/** What a tool sends. */
export interface ToolRequest {
  readonly name: string;
  readonly id: string;
  readonly key: string;
  readonly pid: number;
  readonly ms: number;
}

export class ToolServer {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Uses that have no answer yet. */
  get running(): readonly ToolUse[] {
    return this.#ledger.tools.filter(({ endedAt }) => endedAt === undefined);
  }

  /** The answer comes after its time, whether or not anyone still waits for it. */
  async answer({ name, id, key, pid, ms }: ToolRequest, response: ServerResponse): Promise<void> {
    const use: ToolUse = { name, toolCallId: id, key, pid, startedAt: Date.now() };
    this.#ledger.tools.push(use);
    await setTimeout(ms);
    use.endedAt = Date.now();
    response.end("{}");
  }
}
