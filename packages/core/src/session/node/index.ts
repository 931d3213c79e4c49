/** Sessions as files, for Node, Bun and Deno. */
export { createJsonlStore } from "./jsonl-store.ts";
export type { JsonlStoreOptions } from "./jsonl-store.ts";
export { makeFolder } from "./make-folder.ts";
export type { SyncPolicy } from "./write-log.ts";
