/**
 * The thread that runs searches: receives a job, posts its answer. Everything is synchronous; its
 * owner terminates it.
 */
import { parentPort } from "node:worker_threads";
import { findPaths } from "./find-paths.ts";
import { findLines } from "./find-lines.ts";
import type { GlobJob, GrepJob, SearchAnswer } from "./search.ts";

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.on("message", (job: GlobJob | GrepJob) => parentPort?.postMessage(run(job)));

function run(job: GlobJob | GrepJob): SearchAnswer {
  try {
    return { type: "done", result: job.type === "glob" ? findPaths(job) : findLines(job) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { type: "failed", message: message.replace(/^Error: /, "") };
  }
}
