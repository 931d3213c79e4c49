/**
 * Another process that uses a store of files: `sync-child.ts <folder> <sync>`. Each step begins with
 * a request for a file that is not there, `step <name>`, which marks the step in Node's trace.
 */
import { appendFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { AnyEntry } from "../../../src/session/index.ts";
import { createJsonlStore, type JsonlStoreOptions } from "../../../src/session/node/index.ts";

const [folder = "", sync] = process.argv.slice(2);
const store = createJsonlStore(folder, { sync: sync as JsonlStoreOptions["sync"] });
const step = (name: string): Promise<unknown> =>
  stat(join(folder, `step ${name}`)).catch(() => undefined);

let seq = 0;
const entry = (fields: Record<string, unknown> & { readonly type: string }): AnyEntry => ({
  seq: seq++,
  id: `e${seq}`,
  parentId: null,
  timestamp: 1,
  ...fields,
});
const title = (): AnyEntry => entry({ type: "title", title: "A title" });
const message = (content: unknown): AnyEntry =>
  entry({ type: "message", message: { role: "user", content, timestamp: 1 } });

await step("create");
const writer = await store.create({ id: "s", createdAt: 1 }, [message("One")]);
await step("append a title");
await writer.append([title()]);
await step("append a message");
await writer.append([message("Two")]);
await step("append a file");
const data = "AAAA".repeat(10_000);
await writer.append([message([{ type: "file", data, mimeType: "text/plain" }])]);
await step("append another title");
await writer.append([title()]);
await step("close");
await writer.close();
appendFileSync(join(folder, "s.jsonl"), '{"torn');
await step("repair");
const again = await store.open("s");
await step("close unchanged");
await again.close();
