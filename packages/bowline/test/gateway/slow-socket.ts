import { Outbox } from "../../src/gateway/log/outbox.ts";

/** A fake socket whose other end reads on request. */
export class SlowSocket {
  readonly sent: string[] = [];
  bufferedAmount = 0;
  #taken: (() => void)[] = [];

  send(json: string, taken: () => void): void {
    this.sent.push(json);
    this.bufferedAmount += json.length;
    this.#taken.push(taken);
  }

  /** Reads what is buffered now, but not what is sent in response. */
  take(): void {
    const taken = this.#taken.splice(0);
    this.bufferedAmount = 0;
    for (const each of taken) each();
  }

  /** Reads until nothing more is sent. */
  read(): void {
    while (this.#taken.length > 0) this.take();
  }
}

/** An outbox over such a socket. */
export function outboxOf(maxBytes = 1024 * 1024): {
  outbox: Outbox;
  socket: SlowSocket;
  isFull: () => boolean;
} {
  const socket = new SlowSocket();
  let full = false;
  const outbox = new Outbox(socket, maxBytes, () => (full = true));
  return { outbox, socket, isFull: () => full };
}
