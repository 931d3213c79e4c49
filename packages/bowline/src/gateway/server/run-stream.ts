/**
 * Streams a run as server-sent events: first the events after a sequence number, then new ones
 * until the run ends.
 */
import type { Listener, Listeners } from "./listeners.ts";
import type { Frame } from "../log/outbox.ts";
import type { EventName } from "../protocol/protocol.ts";
import { isOpen, isTerminal } from "../log/run-log.ts";
import type { FollowedRun } from "../engine/engine.ts";

export interface RunStreamOptions {
  readonly listeners: Listeners;
  /** The most bytes that are buffered for the reader. */
  readonly maxBytes: number;
  /**
   * Called when the reader is too slow, to close the connection. The client can resume from the
   * last number that it received.
   */
  readonly cutOff: () => void;
}

/** Begins with what the client has missed. Also ends when the server shuts down. */
export function streamRun(
  { info, missed }: FollowedRun,
  { listeners, maxBytes, cutOff }: RunStreamOptions,
): ReadableStream<Uint8Array> {
  const { runId, sessionKey, state } = info;
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
            // A comment keeps proxies from closing an inactive connection, and detects a dead one.
            if (event === "tick") send(":\n\n");
            else if (frame.runId === runId || event === "shutdown") tell(event, frame);
          },
        };
        leave = () => listeners.delete(listener);
        listeners.add(listener);
        listeners.subscribe(listener, sessionKey);
        for (const { event, frame } of missed()) tell(event, frame);
        // The run has ended, or no process continues it. No more events follow.
        if (!isOpen(state) && !isEnded) end();
      },
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
}

/** Takes the data from the frame, after the event's name. */
function toText(event: EventName, { json, seq }: Frame): string {
  const data = json.slice(`{"event":"${event}","data":`.length, -1);
  return `${seq === undefined ? "" : `id: ${seq}\n`}event: ${event}\ndata: ${data}\n\n`;
}
