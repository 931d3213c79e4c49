/**
 * Streams a model call as a response body: its events as they arrive, and comments during silence.
 * Aborts the call if the client leaves.
 */
import { systemClock, type Clock } from "../../clock.ts";
import { toBowlineError } from "../../errors.ts";
import { isTerminal, originOf, type AssistantMessageEvent } from "../../llm/event.ts";
import type { StreamFn } from "../../llm/model.ts";
import { batchesOf, truncated } from "../../llm/stream.ts";
import { MessageWriter } from "../../llm/writer.ts";
import { MIN_SECRET_LENGTH } from "../../transport/redact.ts";
import type { ProxyCall } from "./call.ts";
import { ProxyEncoder } from "./encoder.ts";
import type { ProxyEvent } from "./events.ts";

/**
 * Bun's server closes a connection after 10 s of silence by default. Cloudflare's notices only when
 * writing that a client has left.
 */
const KEEP_ALIVE_MS = 5_000;
/** Also sent first, so that the headers are sent at once. */
const KEEP_ALIVE = ": keep-alive\n\n";

export interface ResponseOptions {
  readonly streamFn: StreamFn;
  readonly clock?: Clock | undefined;
}

/**
 * Returns the response. The model is called when the body is first read. `left` aborts when the
 * client has left.
 */
export function streamResponse(
  call: ProxyCall,
  left: AbortSignal,
  { streamFn, clock = systemClock }: ResponseOptions,
): Response {
  const abort = new AbortController();
  const signals = [
    abort.signal,
    left,
    ...(call.options.signal === undefined ? [] : [call.options.signal]),
  ];
  const signal = AbortSignal.any(signals);
  const options = { clock, ...call.options, signal };
  const encoder = new TextEncoder();
  const texts = answer({ ...call, options }, streamFn);
  let stopTimer: (() => void) | undefined;

  function stop(): void {
    stopTimer?.();
    signal.removeEventListener("abort", stop);
  }

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(KEEP_ALIVE));
    },
    async pull(controller) {
      if (stopTimer === undefined) keepAlive(controller);
      const { done, value } = await texts.next();
      if (done !== true) return controller.enqueue(encoder.encode(value));
      stop();
      controller.close();
    },
    cancel() {
      abort.abort(); // stops the timer too
      void texts.return(); // a stream function that ignores its signal is not awaited
    },
  });

  // Started by the first read, so that an unread response leaves no timer.
  function keepAlive(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const fire = (): void => {
      // If the client has unread data, it needs no keep-alive.
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(KEEP_ALIVE));
      stopTimer = clock.setTimer(KEEP_ALIVE_MS, fire);
    };
    if (signal.aborted) return;
    stopTimer = clock.setTimer(KEEP_ALIVE_MS, fire);
    signal.addEventListener("abort", stop, { once: true });
  }

  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no", // nginx would buffer the events
    },
  });
}

/**
 * Yields the events as text, one batch at a time. Never throws: a broken stream function gives an
 * error event.
 */
async function* answer(
  { model, context, options }: ProxyCall,
  streamFn: StreamFn,
): AsyncGenerator<string, void> {
  const encoder = new ProxyEncoder(createHider({ model, context, options }));
  const encode = (event: AssistantMessageEvent): ProxyEvent[] => encoder.encode(event);
  try {
    const events = await streamFn(model, context, options);
    for await (const batch of batchesOf(events)) {
      const end = batch.findIndex(isTerminal);
      const said = (end === -1 ? batch : batch.slice(0, end + 1)).flatMap(encode);
      if (said.length > 0) yield toText(said);
      if (end !== -1) return;
    }
    throw truncated();
  } catch (error) {
    const { clock = systemClock } = options;
    const writer = new MessageWriter(originOf(model, clock.now()));
    writer.fail(toBowlineError(error, "stream_function_failed", "The stream function failed"));
    yield toText(writer.take().filter(isTerminal).flatMap(encode));
  }
}

function toText(events: readonly ProxyEvent[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/**
 * Returns a function that redacts keys, header values and all addresses in an error message. The
 * client must not learn where the model is.
 */
function createHider({ model, options }: ProxyCall): (text: string) => string {
  const values = [options.apiKey, ...Object.values({ ...model.headers, ...options.headers })];
  const secrets = values
    .map((value) => value?.trim() ?? "")
    .filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const url = URL.canParse(model.baseUrl) ? new URL(model.baseUrl) : undefined;
  const hosts = [url?.host ?? "", url?.hostname ?? ""].filter((host) => host !== "");
  return (text) => {
    let hidden = text;
    for (const secret of secrets) hidden = hidden.replaceAll(secret, "[secret]");
    hidden = hidden.replaceAll(/\bhttps?:\/\/[^\s"'<>()]+/gi, "[address]");
    for (const host of hosts) hidden = hidden.replaceAll(host, "[address]");
    return hidden;
  };
}
