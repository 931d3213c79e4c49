/** The moment at which the events of a session begin to arrive in a gateway. */
import type { RelayPorts } from "./relay-ports.ts";

export class SessionStart {
  readonly #sessionKey: string;
  readonly #ports: Pick<RelayPorts, "bus" | "lastSeq">;
  #ready: Promise<void> | undefined;
  /** The last entry of the stored session when events began to arrive here. */
  lastSeq = -1;

  constructor(sessionKey: string, ports: Pick<RelayPorts, "bus" | "lastSeq">) {
    this.#sessionKey = sessionKey;
    this.#ports = ports;
  }

  /**
   * Resolves when events arrive. A lost connection is made up for when it is back. Rejects if the
   * stored session cannot be read.
   */
  ready(): Promise<void> {
    this.#ready ??= this.#begin().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #begin(): Promise<void> {
    await this.#ports.bus.flush().catch(() => {});
    this.lastSeq = await this.#ports.lastSeq(this.#sessionKey);
  }
}
