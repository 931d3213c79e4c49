/** The pool of a store that was given an address. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { it } from "node:test";
import type { Pool } from "pg";
import { createPool } from "../src/sql/create-pool.ts";

it("survives a connection that the server ends as it is handed out", async () => {
  const opened = createPool({ connectionString: "postgresql://ann@127.0.0.1:1/db" }, 1000);
  const pool = opened.pool as unknown as Pool;
  const client = new EventEmitter();
  pool.emit("connect", client);
  assert.equal(client.emit("error", new Error("terminating connection")), true);
  assert.equal(pool.emit("error", new Error("an idle connection was lost"), client), true);
  await opened.end();
});
