/** The claim that a store puts down when it opens a session for writing. */
import assert from "node:assert/strict";
import { mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { createSession, openSession } from "../../../src/session/index.ts";
import { createJsonlStore } from "../../../src/session/node/index.ts";
import { identifySelf } from "../../../src/session/node/process-identity.ts";
import { temporaryFolder } from "../support.ts";
import { code } from "../../../../../test/support/error-code.ts";

it("a claim of an attempt that failed does not block the next one", async () => {
  await using folder = await temporaryFolder();
  const store = createJsonlStore(folder.path);
  await (await createSession(store, { id: "s" })).close();
  const { start, boot, host } = await identifySelf();
  const locks = join(folder.path, "locks");
  const dead = join(locks, `s.${2 ** 22 + 1}.${start}.${boot}.nonce@${host}`);
  await mkdir(dead); // it cannot be unlinked
  await assert.rejects(openSession(store, "s"), code("storage_failed"));
  await rmdir(dead);
  await (await openSession(store, "s")).close();
  assert.deepEqual(await readdir(locks), []);
});
