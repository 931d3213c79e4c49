/** An HTTP client that writes arbitrary bytes and reads the raw answers, which no library does. */
import { connect, type Socket } from "node:net";
import { within } from "../../../../test/support/within.ts";

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether the whole body arrived. */
  readonly isWhole: boolean;
}

export class RawHttp {
  readonly socket: Socket;
  readonly ended: Promise<unknown>;
  readonly answers: Answer[] = [];
  /** Methods of the pending requests, in order. An answer to HEAD has no body. */
  readonly #methods: string[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Received bytes that belong to no answer yet, and free room after them. */
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {}); // "close" follows
    this.ended = new Promise<void>((resolve) => socket.once("close", resolve));
    for (const event of ["connect", "end", "close"])
      socket.on(event, () => this.#read(event !== "connect"));
    socket.on("data", (chunk: Buffer) => {
      this.#append(chunk);
      this.#read(false);
    });
  }

  static async open(port: number): Promise<RawHttp> {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const raw = new RawHttp(socket);
    while (socket.connecting) await raw.#news();
    return raw;
  }

  /** Writes the beginning, or all, of a request with this method. */
  ask(method: string, bytes: Buffer): void {
    this.#methods.push(method);
    this.write(bytes);
  }

  write(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /**
   * Resolves after this many answers, or when the connection has ended. Destroys the socket and
   * rejects when neither happens.
   */
  async until(count: number): Promise<void> {
    const work = this.#until(count);
    try {
      await within(`${count} answers, or the end of the connection`, work);
    } catch (error) {
      this.socket.destroy();
      throw error;
    }
  }

  async #until(count: number): Promise<void> {
    while (this.answers.length < count && !this.isOver) await this.#news();
  }

  /** Whether the connection has ended. */
  get isOver(): boolean {
    return this.socket.destroyed || this.socket.readableEnded;
  }

  /** Doubles the memory when it is full: copying every byte for each chunk would be quadratic. */
  #append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#memory.length) {
      const memory = Buffer.alloc(length * 2);
      this.#memory.copy(memory, 0, 0, this.#length);
      this.#memory = memory;
    }
    chunk.copy(this.#memory, this.#length);
    this.#length = length;
  }

  #news(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  #read(isOver: boolean): void {
    for (let answer = this.#next(isOver); answer !== undefined; answer = this.#next(isOver)) {
      if (answer.status >= 200) this.#methods.shift();
      if (answer.status !== 100) this.answers.push(answer);
    }
    for (const go of this.#waiting.splice(0)) go();
  }

  #next(isOver: boolean): Answer | undefined {
    const bytes = this.#memory.subarray(0, this.#length);
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
    const headers = new Map(
      lines.map((line) => [
        line.split(":", 1)[0]?.toLowerCase() ?? "",
        line.replace(/^[^:]*: ?/, ""),
      ]),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? Number.NaN);
    const rest = bytes.subarray(end + 4);
    const length =
      status < 200 || status === 204 || status === 304 || this.#methods[0] === "HEAD"
        ? 0
        : lengthOf(headers);
    const found = length === "chunked" ? unchunked(rest, isOver) : whole(rest, length, isOver);
    if (found === undefined) return undefined;
    this.#memory = rest.subarray(found.used);
    this.#length = this.#memory.length;
    return { status, headers, body: found.body, isWhole: found.isWhole || length === "to the end" };
  }
}

interface Found {
  readonly body: string;
  readonly used: number;
  readonly isWhole: boolean;
}

/** A body without a length ends with the connection. */
function lengthOf(headers: ReadonlyMap<string, string>): number | "chunked" | "to the end" {
  if (headers.get("transfer-encoding") === "chunked") return "chunked";
  return headers.has("content-length") ? Number(headers.get("content-length")) : "to the end";
}

/** Returns undefined while more of the body may come. */
function whole(rest: Buffer, length: number | "to the end", isOver: boolean): Found | undefined {
  const used = length === "to the end" ? rest.length : Math.min(length, rest.length);
  if (used !== length && !isOver) return undefined;
  return { body: rest.subarray(0, used).toString(), used, isWhole: used === length };
}

/** Returns undefined while more of the body may come. */
function unchunked(rest: Buffer, isOver: boolean): Found | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = rest.indexOf("\r\n", at);
    const size = line < 0 ? Number.NaN : Number.parseInt(rest.subarray(at, line).toString(), 16);
    const next = line + 2 + size + 2;
    const isCut = Number.isNaN(size) || next > rest.length;
    if (isCut && !isOver) return undefined;
    if (isCut) return { body: Buffer.concat(parts).toString(), used: rest.length, isWhole: false };
    if (size === 0) return { body: Buffer.concat(parts).toString(), used: next, isWhole: true };
    parts.push(rest.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
