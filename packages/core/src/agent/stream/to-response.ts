/** Events as a `Response` of server-sent events. */
import { onAbort, sleep, type Clock } from "../../clock.ts";
import type { AgentEvent } from "../contract/event.ts";
import { toResponseEvent } from "./response-event.ts";

/** Proxies close connections that are silent for longer, the strictest after half a minute. */
const PING_MS = 15_000;

export interface ResponseOptions {
  /**
   * The JSON value that an event is sent as; undefined sends nothing. Default: a
   * {@link ResponseEvent}, which leaves out what only the server may know.
   */
  readonly toData?: ((event: AgentEvent) => unknown) | undefined;
  /** Sent besides `content-type` and `cache-control`. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/**
 * Reads a batch when the client has taken the one before. A client that leaves ends the reading. A
 * client that waits gets a comment every 15 s.
 */
export function toResponse(
  batches: AsyncGenerator<readonly AgentEvent[], void, undefined>,
  clock: Clock,
  { toData = toResponseEvent, headers }: ResponseOptions = {},
): Response {
  const encoder = new TextEncoder();
  const left = new AbortController();
  let next: Promise<IteratorResult<readonly AgentEvent[], void>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let text = ""; text === "" && !left.signal.aborted;) {
        next ??= batches.next();
        const batch = await within(next, clock, left.signal);
        if (left.signal.aborted) return;
        if (batch) next = undefined;
        if (batch?.done) return controller.close();
        text = batch ? batch.value.map((event) => toFrame(toData(event))).join("") : ":\n\n";
        if (text !== "") controller.enqueue(encoder.encode(text));
      }
    },
    cancel() {
      left.abort();
      // Not awaited: a generator that waits for an event returns after it.
      void batches.return();
    },
  });
  const all = new Headers(headers);
  all.set("content-type", "text/event-stream");
  all.set("cache-control", "no-cache, no-transform");
  return new Response(body, { headers: all });
}

/** What is read, or undefined after {@link PING_MS} or when `signal` fires. */
async function within<T>(
  reading: Promise<T>,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const done = new AbortController();
  const release = onAbort(signal, () => done.abort());
  try {
    return await Promise.race([reading, sleep(clock, PING_MS, done.signal).then(() => undefined)]);
  } finally {
    release();
    done.abort();
  }
}

function toFrame(data: unknown): string {
  return data === undefined ? "" : `data: ${JSON.stringify(data)}\n\n`;
}
