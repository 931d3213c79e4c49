/**
 * A server that sends exactly the given bytes over a raw socket, and a clock that moves only on
 * request.
 */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { chunkedResponse } from "../../src/transport/chunked-response.ts";
import type { Clock } from "../../src/clock.ts";

/** The response to one request, and what then happens to the connection. */
export interface Answer {
  readonly bytes: Uint8Array;
  /**
   * The number of body bytes that the client can read: `reset` and `hold` wait until it has read
   * them.
   */
  readonly visible: number;
  /** `end` closes the connection with FIN, `reset` with RST, `hold` sends nothing more. */
  readonly after: "keep" | "end" | "reset" | "hold";
  /**
   * Sent again each time the client waits, `everyMs` apart, `times` times; then the connection
   * stays silent.
   */
  readonly drip?: { readonly bytes: string; readonly everyMs: number; readonly times: number };
}

export interface Received {
  /** Connections are counted from 1. */
  readonly connection: number;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const encoder = new TextEncoder();

/** A whole response. Adds a content-length unless the headers say how the body ends. */
export function http(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = "",
  after: Answer["after"] = "keep",
): Answer {
  const content = typeof body === "string" ? encoder.encode(body) : body;
  const own =
    "transfer-encoding" in headers || "content-length" in headers || "connection" in headers;
  const all = own ? headers : { ...headers, "content-length": `${content.length}` };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.concat([
    encoder.encode(`HTTP/1.1 ${status} X\r\n${lines.join("")}\r\n`),
    content,
  ]);
  return { bytes, visible: content.length, after };
}

/**
 * The beginning of an event stream: chunked, with a content-length that is never reached, or ended
 * by the connection.
 */
export function begun(
  framing: "chunked" | "length" | "close",
  body: string,
  after: Answer["after"],
): Answer {
  const headers = {
    chunked: { "transfer-encoding": "chunked" },
    length: { "content-length": "5000" },
    close: { connection: "close" },
  }[framing];
  const chunk = body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`;
  const answer = http(
    200,
    { "content-type": "text/event-stream", ...headers },
    framing === "chunked" ? chunk : body,
  );
  return { ...answer, visible: body.length, after };
}

/** No response. */
export function nothing(after: Answer["after"]): Answer {
  return { bytes: new Uint8Array(), visible: 0, after };
}

export interface ByteServer extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly Received[];
  /** The real fetch, which reports to the server how much of a response was read. */
  readonly fetch: typeof globalThis.fetch;
  /** The number of open connections. */
  readonly open: () => number;
}

/**
 * Answers the first request with the first answer, and so on; the last one answers all further
 * requests. A function gets the number of the request on its connection, from 1. `onStall` is
 * called when the client waits without end, or for `ms`. `fetch` is wrapped by the server's own
 * `fetch`.
 */
export async function serveBytes(
  answers: readonly Answer[] | ((ofConnection: number) => Answer),
  onStall: (ms?: number) => void = () => {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<ByteServer> {
  const requests: Received[] = [];
  const sockets = new Set<Socket>();
  const served: { readonly socket: Socket; readonly answer: Answer; dripped: number }[] = [];
  let connections = 0;
  let signal: AbortSignal | null | undefined;
  const server = createServer((socket) => {
    const connection = ++connections;
    let text = "";
    let ofConnection = 0;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    socket.setEncoding("latin1").on("data", (data: string) => {
      text += data;
      const request = parseRequest(text);
      if (request === undefined) return;
      text = "";
      ofConnection++;
      const answer =
        typeof answers === "function"
          ? answers(ofConnection)
          : (answers[requests.length] ?? answers.at(-1));
      if (answer === undefined) throw new Error("There is no answer.");
      requests.push({ connection, ...request });
      served.push({ socket, answer, dripped: 0 });
      if (answer.after === "end") socket.end(answer.bytes);
      else if (answer.bytes.length > 0) socket.write(answer.bytes);
      else if (answer.after === "reset") socket.resetAndDestroy();
      else stall();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    open: () => sockets.size,
    async fetch(...asked) {
      signal = asked[1]?.signal;
      const response = await fetch(...asked);
      const exchange = served.at(-1);
      const reader = response.body?.getReader();
      if (reader === undefined || exchange === undefined) return response;
      let read = 0;
      return chunkedResponse(response, {
        async next() {
          waits(exchange, read);
          const { value } = await reader.read();
          read += value?.length ?? 0;
          return value;
        },
        leave: (reason) => reader.cancel(reason),
      });
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  /** The client has read this much of the body and waits for more. */
  function waits(exchange: (typeof served)[number], read: number): void {
    const { socket, answer } = exchange;
    const { drip, after } = answer;
    if (read !== answer.visible + exchange.dripped * (drip?.bytes.length ?? 0)) return;
    if (after === "reset") socket.resetAndDestroy();
    if (after !== "hold") return;
    const goesOn = drip !== undefined && exchange.dripped < drip.times;
    if (!goesOn) return stall();
    onStall(drip.everyMs);
    exchange.dripped++;
    socket.write(drip.bytes);
  }

  /**
   * Nothing more is sent until the client gives up. An extended time limit needs more than one
   * timer.
   */
  function stall(): void {
    const goesOn = (): boolean => signal?.aborted === false;
    for (let times = 0; times < 10 && goesOn(); times++) onStall();
  }
}

function parseRequest(text: string): Omit<Received, "connection"> | undefined {
  const [head = "", body] = text.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const pairs = lines.map((header) => header.split(/: (.*)/s));
  const headers = Object.fromEntries(
    pairs.map(([name = "", value = ""]) => [name.toLowerCase(), value]),
  );
  if (body === undefined || body.length < Number(headers["content-length"] ?? 0)) return undefined;
  const [method = "", target = ""] = line.split(" ");
  return { method, target, headers, body };
}

/** A clock that stands still until it is moved. */
export class StillClock implements Clock {
  #now: number;
  #timers: { readonly at: number; readonly fire: () => void }[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + ms, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The times of the pending timers, in milliseconds from now. */
  get pending(): number[] {
    return this.#timers.map(({ at }) => at - this.#now).toSorted((a, b) => a - b);
  }

  /** Advances by `ms`, by default to the next timer. */
  pass(ms: number = this.pending[0] ?? 0): void {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.fire();
    }
    this.#now = end;
  }
}
