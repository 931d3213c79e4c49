/** A thread that creates the streams of a wire, or tries the mutants of one stream. */
import { parentPort } from "node:worker_threads";
import { mutatedAnswers } from "./bases.ts";
import type { Answer, Task } from "./messages.ts";
import { tryBase } from "./try-base.ts";

parentPort?.on("message", (task: Task) => void answer(task));

/** A rejection becomes the thread's error event, and ends the run. */
async function answer(task: Task): Promise<void> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(await perform(task));
}

async function perform(task: Task): Promise<Answer> {
  if (task.kind === "bases") {
    const { kind, wire, seed, count } = task;
    return { kind, wire, bases: await mutatedAnswers(wire, seed, count) };
  }
  const { kind, base, seed, count } = task;
  return { kind, wire: base.wire, result: await tryBase(base, count, String(seed)) };
}
