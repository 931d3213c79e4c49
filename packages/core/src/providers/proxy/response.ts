/**
 * A model call as the body of a response: its events as they come, comments while it is silent,
 * aborted when nobody reads.
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
 * Bun's server closes a connection after 10 s of silence, unless told otherwise, and Cloudflare's
 * learns only by writing that a client has gone.
 */
const KEEP_ALIVE_MS = 5_000;
/** Also sent first, so that the headers leave at once. */
const KEEP_ALIVE = ": keep-alive\n\n";

export interface ResponseOptions {
  readonly streamFn: StreamFn;
  readonly clock?: Clock | undefined;
}

/** The model is called when the body is first read. `left` fires when the request is over. */
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
      stop();
      abort.abort();
      void texts.return(); // one that waits for a deaf stream function is given up
    },
  });

  // Armed by the first read: a response that nobody reads leaves no timer behind.
  function keepAlive(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const fire = (): void => {
      // A client that does not read what was sent needs no sign of life.
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
      "x-accel-buffering": "no", // nginx would hold the events back
    },
  });
}

/**
 * The events as text, a batch at a time. Never throws: a broken stream function is an error event.
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
 * Takes keys, header values and every address out of an error's words: where the model is, is the
 * server's business.
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
