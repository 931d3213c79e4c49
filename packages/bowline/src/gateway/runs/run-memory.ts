/** Caches the logs of open and recently ended runs, and the idempotency keys of their messages. */
import { GatewayError } from "../protocol/gateway-error.ts";
import type { Host } from "./host.ts";
import type { SendResult } from "../protocol/protocol.ts";
import type { RunLog } from "../log/run-log.ts";

interface Known {
  readonly fingerprint: string;
  readonly settled: Promise<SendResult>;
}

export class RunMemory {
  readonly #host: Pick<Host, "clock" | "limits">;
  readonly #logs = new Map<string, RunLog>();
  readonly #known = new Map<string, Known>();
  /** The end time and the size of each ended run, oldest first. */
  readonly #ended = new Map<string, { readonly at: number; readonly size: number }>();
  #endedBytes = 0;

  constructor(host: Pick<Host, "clock" | "limits">) {
    this.#host = host;
  }

  log(runId: string): RunLog | undefined {
    return this.#logs.get(runId);
  }

  add(log: RunLog): void {
    this.#logs.set(log.runId, log);
    // A message for another run was due for eviction and now begins its own run.
    this.#endedBytes -= this.#ended.get(log.runId)?.size ?? 0;
    this.#ended.delete(log.runId);
  }

  remove(runId: string): void {
    this.#logs.delete(runId);
  }

  isOpen(runId: string): boolean {
    return this.#logs.get(runId)?.isOpen === true;
  }

  /** Forgets the key. The next message with it is accepted as new. */
  forgetKey(key: string): void {
    this.#known.delete(key);
  }

  /** Marks a run as ended, or a key that began no run. It is evicted later. */
  end(id: string): void {
    const size = this.#logs.get(id)?.size ?? 0;
    this.#endedBytes += size - (this.#ended.get(id)?.size ?? 0);
    this.#ended.set(id, { at: this.#host.clock.now(), size });
    this.forgetEnded();
  }

  forgetEnded(): void {
    const { clock, limits } = this.#host;
    for (const [id, { at, size }] of this.#ended) {
      const areFew =
        this.#ended.size <= limits.maxEnded && this.#endedBytes <= limits.maxEndedBytes;
      if (areFew && clock.now() - at < limits.keepEndedMs) return;
      this.#ended.delete(id);
      this.#endedBytes -= size;
      this.#logs.delete(id);
      this.#known.delete(id);
    }
  }

  /**
   * Accepts a message once. A repeated call with the same key returns the first result. Throws
   * `conflict` for another message with that key.
   */
  async once<T extends { readonly result: SendResult }>(
    key: string,
    fingerprint: string,
    take: () => Promise<T>,
  ): Promise<T | { readonly result: SendResult }> {
    const known = this.#known.get(key);
    if (known === undefined) {
      const taking = take();
      const settled = taking.then(({ result }) => {
        // A message that began no run is evicted as ended runs are.
        if (!this.isOpen(key)) this.end(key);
        return result;
      });
      this.#known.set(key, { fingerprint, settled });
      settled.catch(() => this.#known.delete(key)); // a client may retry
      return taking;
    }
    if (known.fingerprint !== fingerprint)
      throw new GatewayError("conflict", "This idempotency key was used for another message.");
    const result = await known.settled;
    // A message for another run may have begun its own run since.
    const runId = this.#logs.has(key) ? key : result.runId;
    return { result: { ...result, runId, status: this.isOpen(runId) ? "in_flight" : "finished" } };
  }
}
