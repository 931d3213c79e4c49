/** The thread in which a search runs: one job in, one answer out. Synchronous throughout; whoever started it ends it. */
import { parentPort, workerData } from "node:worker_threads";
import { findPaths } from "./find-paths.ts";
import { findLines } from "./find-lines.ts";
import type { GlobJob, GrepJob, SearchAnswer } from "./search.ts";

const answer = run(workerData as GlobJob | GrepJob);
parentPort?.postMessage(answer);

function run(job: GlobJob | GrepJob): SearchAnswer {
  try {
    return { type: "done", result: job.type === "glob" ? findPaths(job) : findLines(job) };
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error as string}`;
    return { type: "failed", message: message.replace(/^Error: /, "") };
  }
}
