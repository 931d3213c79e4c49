/** Sends batches of data as a `Response` of server-sent events. */
import { onAbort, sleep, type Clock } from "../../clock.ts";

/** Interval of keep-alive comments. Some proxies close a connection after 30 s without data. */
const PING_MS = 15_000;

interface SseOptions {
  readonly onCancel?: (() => void) | undefined;
  readonly isLazy?: boolean;
}

/**
 * Reads a batch when the client has taken the previous one. Stops reading when the client
 * disconnects, and calls `onCancel`. Sends a comment after every 15 s without data. `toFrames`
 * returns an item as text; an empty text sends nothing. `headers` are additional ones:
 * `content-type` and `cache-control` are always set. The first batch is read at once, so that a
 * client that leaves before it reads closes `batches` too. With `isLazy`, it is read only when
 * somebody reads the body, which an answer to `HEAD` is not.
 */
export function sseResponse<T>(
  batches: AsyncGenerator<readonly T[], void, undefined>,
  clock: Clock,
  toFrames: (item: T) => string,
  headers?: ConstructorParameters<typeof Headers>[0],
  { onCancel, isLazy = false }: SseOptions = {},
): Response {
  const encoder = new TextEncoder();
  const left = new AbortController();
  let next: Promise<IteratorResult<readonly T[], void>> | undefined;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      for (let text = ""; text === "";) {
        next ??= batches.next();
        const batch = await within(next, clock, left.signal);
        if (left.signal.aborted) return;
        if (batch) next = undefined;
        if (batch?.done) return controller.close();
        text = batch ? batch.value.map((item) => toFrames(item)).join("") : ":\n\n";
        if (text !== "") controller.enqueue(encoder.encode(text));
      }
    },
    cancel() {
      left.abort();
      // Not awaited, because a waiting generator returns only after the next event.
      void batches.return();
      onCancel?.();
    },
  };
  const body = new ReadableStream(source, { highWaterMark: isLazy ? 0 : 1 });
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
