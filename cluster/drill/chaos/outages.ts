/** Kills, stops and restarts processes, and keeps a record of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Handle } from "../../kit/service.ts";
import type { Outage } from "../evidence.ts";

const RESTART_LIMIT_MS = 90_000;
const PAUSE_MS = 500;

export class Outages {
  readonly all: Outage[] = [];
  /** Processes that did not start again. */
  readonly failures: string[] = [];
  readonly #onOutage: (outage: Outage) => void;

  constructor(onOutage: (outage: Outage) => void) {
    this.#onOutage = onOutage;
  }

  /** Kills a process and starts it again after a while. */
  async kill(handle: Handle, downMs: number): Promise<void> {
    if (!handle.isRunning) return;
    const outage = this.begin(handle, "killed");
    await handle.kill();
    await sleep(downMs);
    await this.#start(handle);
    outage.to = Date.now();
  }

  /** Stops a process so that its connections stay open, and continues it after a while. */
  async stop(handle: Handle, until: Promise<unknown>): Promise<void> {
    if (!handle.isRunning) return;
    const outage = this.begin(handle, "stopped");
    handle.stop();
    await until;
    if (handle.isRunning) handle.continue();
    outage.to = Date.now();
  }

  begin(
    { name, kind }: { readonly name: string; readonly kind: string },
    how: Outage["how"],
  ): Outage & { to?: number } {
    const outage: Outage = { name, kind, how, from: Date.now() };
    this.all.push(outage);
    this.#onOutage(outage);
    return outage;
  }

  /** Starts a process until it runs: it may end at its start while another one is away. */
  async #start(handle: Handle): Promise<void> {
    const end = performance.now() + RESTART_LIMIT_MS;
    for (;;) {
      try {
        return await handle.start();
      } catch (error) {
        if (performance.now() > end) {
          this.failures.push(`${handle.name} does not start again: ${String(error)}`);
          return;
        }
        await handle.kill();
        await sleep(PAUSE_MS);
      }
    }
  }
}
