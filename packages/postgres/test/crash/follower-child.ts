/**
 * A process that follows the session `s` and writes the id of each entry to its output, until the
 * session is deleted: `follower-child.ts <url>`. It never polls.
 */
import { writeSync } from "node:fs";
import { createPostgresStore } from "../../src/index.ts";

const [url = ""] = process.argv.slice(2);
const store = createPostgresStore({ connectionString: url, pollMs: 600_000 });
for await (const batch of store.follow("s")) for (const { id } of batch) writeSync(1, `${id}\n`);
writeSync(1, "deleted\n");
await store.close();
