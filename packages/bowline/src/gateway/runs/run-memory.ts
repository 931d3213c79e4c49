/** Runs that go on, wait, or ended not long ago, and the keys under which messages came. */
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
  /** When each ended, and how much it takes; the first first. */
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
    // A message that was for another run, and was to be forgotten, begins one of its own.
    this.#endedBytes -= this.#ended.get(log.runId)?.size ?? 0;
    this.#ended.delete(log.runId);
  }

  remove(runId: string): void {
    this.#logs.delete(runId);
  }

  isOpen(runId: string): boolean {
    return this.#logs.get(runId)?.isOpen === true;
  }

  /** A message that comes under this key is taken anew. */
  forgetKey(key: string): void {
    this.#known.delete(key);
  }

  /** It has ended, or it never was a run: it is forgotten after a while. */
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
   * Takes a message once. Again under the same key it is the first one's result; throws `conflict`
   * for another message.
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
        // One that began no run of its own is forgotten as an ended run is.
        if (!this.isOpen(key)) this.end(key);
        return result;
      });
      this.#known.set(key, { fingerprint, settled });
      settled.catch(() => this.#known.delete(key)); // it may be tried again
      return taking;
    }
    if (known.fingerprint !== fingerprint)
      throw new GatewayError("conflict", "This idempotency key was used for another message.");
    const result = await known.settled;
    const runId = this.#logs.has(key) ? key : result.runId; // one that was for another run may be one of its own by now
    return { result: { ...result, runId, status: this.isOpen(runId) ? "in_flight" : "finished" } };
  }
}
