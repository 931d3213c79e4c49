/** A run as the UI message stream of the AI SDK. */
import type { AgentEvent } from "../agent/contract/event.ts";
import { sseResponse } from "../agent/stream/sse-response.ts";
import type { UIMessageChunk } from "./chunk.ts";
import type { UIMessageStreamOptions, UIStreamSettings } from "./options.ts";
import { RunFeed } from "./run-feed.ts";

type Batches = AsyncGenerator<readonly UIMessageChunk[], void, undefined>;

/** A reader that leaves does not abort the run, unless `onCancel` does. */
interface Cancel {
  /** Called when the reader leaves before the end. Default: nothing, and the run continues. */
  readonly onCancel?: (() => void) | undefined;
}

export interface UIMessageResponseOptions extends UIMessageStreamOptions, Cancel {
  /** Additional headers. Those of the protocol are always set. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/**
 * Returns a run, such as `agent.stream(prompt)`, as a stream of the chunks that `useChat` and
 * `readUIMessageStream` of the AI SDK read. Rejects if the run ends without `agent_end`. Throws
 * `invalid_argument` if `maxHeldChunks` is not a positive integer.
 */
export function toUIMessageStream(
  run: AsyncIterable<AgentEvent>,
  options: UIMessageStreamOptions & Cancel = {},
): ReadableStream<UIMessageChunk> {
  return chunkStream(follow(run, options).batches, options);
}

/**
 * Returns {@link toUIMessageStream} as a response of server-sent events, with a comment after every
 * 15 s of silence.
 */
export function toUIMessageResponse(
  run: AsyncIterable<AgentEvent>,
  options: UIMessageResponseOptions = {},
): Response {
  const { batches, settings } = follow(run, options);
  return chunkResponse(batches, settings, options);
}

/**
 * Sends chunks with the headers and the end of the protocol. With `isLazy`, `batches` begins when
 * somebody reads the body.
 */
export function chunkResponse(
  batches: Batches,
  { clock }: Pick<UIStreamSettings, "clock">,
  {
    headers,
    onCancel,
    isLazy = false,
  }: Pick<UIMessageResponseOptions, "headers" | "onCancel"> & { readonly isLazy?: boolean },
): Response {
  const all = new Headers(headers);
  all.set("x-vercel-ai-ui-message-stream", "v1");
  all.set("x-accel-buffering", "no"); // for nginx, as the AI SDK does
  const toFrames = (chunk: UIMessageChunk | "[DONE]"): string =>
    `data: ${chunk === "[DONE]" ? chunk : JSON.stringify(chunk)}\n\n`;
  return sseResponse(withDone(batches), clock, toFrames, all, { onCancel, isLazy });
}

function chunkStream(batches: Batches, { onCancel }: Cancel): ReadableStream<UIMessageChunk> {
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { done, value } = await batches.next();
      if (done) controller.close();
      else for (const chunk of value) controller.enqueue(chunk);
    },
    cancel() {
      void batches.return(); // a waiting generator returns only after the next event
      onCancel?.();
    },
  });
}

async function* withDone(
  batches: Batches,
): AsyncGenerator<readonly (UIMessageChunk | "[DONE]")[], void, undefined> {
  yield* batches;
  yield ["[DONE]"];
}

function follow(
  run: AsyncIterable<AgentEvent>,
  options: UIMessageStreamOptions,
): { readonly batches: Batches; readonly settings: UIStreamSettings } {
  const feed = new RunFeed(options);
  const batches = feed.read();
  void pump(run, feed);
  return { batches, settings: feed.settings };
}

/** Never rejects: the readers do. */
async function pump(run: AsyncIterable<AgentEvent>, feed: RunFeed): Promise<void> {
  try {
    for await (const event of run) {
      if (feed.isLeft) break;
      feed.push(event);
    }
    feed.end();
  } catch (error) {
    feed.fail(error);
  }
}
