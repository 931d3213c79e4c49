/**
 * A process that appends to a session and writes each acknowledged id to its output:
 * `writer-child.ts <url> <prefix> <session>`. It ends with a line `error <code> <fenced>` when an append fails.
 */
import { writeSync } from "node:fs";
import { isBowlineError } from "@bowline/core";
import type { SessionWriter } from "@bowline/core/session";
import { createPostgresStore, isSessionFenced } from "../../src/index.ts";
import { entry } from "../support.ts";

const [url = "", prefix = "", id = ""] = process.argv.slice(2);
const store = createPostgresStore({ connectionString: url });
const tell = (line: string): void => void writeSync(1, `${line}\n`);

const writer = await open();
try {
  for (let n = 0; ; n++) {
    const { last, nextSeq } = writer;
    const entryId = `${prefix}-${n}`;
    await writer.append([entry(nextSeq, { id: entryId, parentId: last?.id ?? null, n })]);
    tell(entryId);
  }
} catch (error) {
  tell(
    `error ${isBowlineError(error) ? `${error.code} ${error.retryable}` : "unknown"} ${isSessionFenced(error)}`,
  );
}
await writer.close();
await store.close();

/** The process before this one may have been killed a moment ago. */
async function open(): Promise<SessionWriter> {
  for (;;) {
    try {
      return await store.open(id);
    } catch (error) {
      if (!isBowlineError(error) || error.code !== "session_locked") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
