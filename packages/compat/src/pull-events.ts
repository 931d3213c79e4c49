/** Runs that wait for their reader, unlike core's own event streams. */
import type { AgentEvent, AgentEventSink } from "@bowline/core/agent";

/** Starts the run. It must await what `emit` returns, with `hookTimeoutMs: 0`. */
export type StartRun = (emit: AgentEventSink, signal: AbortSignal) => Promise<unknown>;

interface Pending {
  readonly event: AgentEvent;
  /** Lets the run continue. */
  readonly release: () => void;
}

/**
 * Yields the events of a run, which starts with the first `next()`. After each event the run waits
 * until the reader requests the next one. Leaving the generator aborts the run.
 */
export async function* pullEvents(
  start: StartRun,
  signal?: AbortSignal,
): AsyncGenerator<AgentEvent, void, undefined> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort);
  // Holds at most one event, except after an abort, when the run does not wait for slow readers.
  const queue: Pending[] = [];
  let current: Pending | undefined;
  let isLeft = false;
  let isOver = false;
  let wake = (): void => {};
  const emit: AgentEventSink = (event) => {
    if (isLeft) return undefined;
    return new Promise((release) => {
      queue.push({ event, release });
      wake();
    });
  };
  const run = start(emit, controller.signal).finally(() => {
    isOver = true;
    wake();
  });
  run.catch(() => {}); // the error is rethrown below, unless the reader left
  try {
    for (;;) {
      current?.release();
      current = queue.shift();
      if (current) yield current.event;
      else if (isOver) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await run;
  } finally {
    isLeft = true;
    signal?.removeEventListener("abort", abort);
    controller.abort();
    current?.release();
    for (const { release } of queue) release();
  }
}
