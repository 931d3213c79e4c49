/** A run as server-sent events: those after a number, then those that come, to its last. */
import type { Listener, Listeners } from "./listeners.ts";
import type { Frame } from "../log/outbox.ts";
import type { EventName } from "../protocol/protocol.ts";
import { isTerminal, type RunLog } from "../log/run-log.ts";

export interface RunStreamOptions {
  readonly listeners: Listeners;
  /** What may wait for the reader, in bytes. */
  readonly maxBytes: number;
  /** The reader is too slow: it is cut off, and can go on from the last number that it has. */
  readonly cutOff: () => void;
}

/** Without a number it begins with a snapshot. It ends when the server goes away, too. */
export function streamRun(
  log: RunLog,
  seq: number | undefined,
  { listeners, maxBytes, cutOff }: RunStreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let leave = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let isEnded = false;
        const end = (): void => {
          isEnded = true;
          leave();
          controller.close();
        };
        const send = (text: string): void => {
          controller.enqueue(encoder.encode(text));
          if (-(controller.desiredSize ?? 0) > maxBytes) cutOff();
        };
        const tell = (event: EventName, frame: Frame): void => {
          send(toText(event, frame));
          if (isTerminal(event) || event === "shutdown") end();
        };
        const listener: Listener = {
          event(event, frame) {
            // So that a connection on which nothing is said is not taken for a dead one, and a dead
            // one is noticed.
            if (event === "tick") send(":\n\n");
            else if (frame.runId === log.runId || event === "shutdown") tell(event, frame);
          },
        };
        leave = () => listeners.delete(listener);
        listeners.add(listener);
        listeners.subscribe(listener, log.sessionKey);
        for (const { event, frame } of log.since(seq)) tell(event, frame);
        // Of a run whose end was read before, or that nobody goes on with, nothing more comes.
        if (!log.isOpen && !isEnded) end();
      },
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
}

/** Its data is what stands behind the name in the frame. */
function toText(event: EventName, { json, seq }: Frame): string {
  const data = json.slice(`{"event":"${event}","data":`.length, -1);
  return `${seq === undefined ? "" : `id: ${seq}\n`}event: ${event}\ndata: ${data}\n\n`;
}
