/** Sends events as a `Response` of server-sent events. */
import { onAbort, sleep, type Clock } from "../../clock.ts";
import type { AgentEvent } from "../contract/event.ts";
import { toResponseEvent } from "./response-event.ts";

/** Interval of keep-alive comments. Some proxies close a connection after 30 s without data. */
const PING_MS = 15_000;

export interface ResponseOptions {
  /**
   * Converts an event to the JSON value to send. Undefined sends nothing. Default: to a {@link
   * ResponseEvent}, which leaves out server-side data.
   */
  readonly toData?: ((event: AgentEvent) => unknown) | undefined;
  /** Additional headers. `content-type` and `cache-control` are always set. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/**
 * Reads a batch when the client has taken the previous one. Stops reading when the client
 * disconnects. Sends a comment after every 15 s without events.
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
      // Not awaited, because a waiting generator returns only after the next event.
      void batches.return();
    },
  });
  const all = new Headers(headers);
  all.set("content-type", "text/event-stream");
  all.set("cache-control", "no-cache, no-transform");
  return new Response(body, { headers: all });
}

/** Resolves with what was read, or with undefined after {@link PING_MS} or when `signal` fires. */
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
