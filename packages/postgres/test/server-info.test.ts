import assert from "node:assert/strict";
import { it } from "node:test";
import { createPostgresStore } from "../src/index.ts";
import { skip, startRig } from "./support.ts";

const rig = await startRig();

it("reads the server's version and its connections, without tables", { skip }, async () => {
  const connectionString = await rig.server.createDatabase("without_tables");
  const store = createPostgresStore({ connectionString, migrations: "manual" });
  try {
    const before = await store.serverInfo();
    const shown = await rig.server.sql("show server_version");
    assert.equal(shown.split(" ")[0], before.version);
    assert.equal(before.maxConnections, 200);
    const another = createPostgresStore({ connectionString, migrations: "manual" });
    await another.serverInfo();
    assert.equal((await store.serverInfo()).connections, before.connections + 1);
    await another.close();
  } finally {
    await store.close();
  }
});
