/** The server while the disk cannot be read. It must not assume that the disk is empty. */
import assert from "node:assert/strict";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore, createSession, type Store } from "@bowline/core/session";
import { createMemoryPending, createPendingFolder } from "../../src/gateway/runs/pending.ts";
import { temporary } from "../command.ts";
import { gatewayWith, type TestOptions } from "./gateway.ts";

/** A store that fails to read while `isBroken` is true. */
function breakable(): { readonly store: Store; isBroken: boolean } {
  const store = createMemoryStore();
  const check = (): void => {
    if (made.isBroken)
      throw new BowlineError("storage_failed", "Too many open files.", { retryable: true });
  };
  const made = {
    isBroken: false,
    store: {
      ...store,
      load: async (id) => (check(), store.load(id)),
      async *read(...asked) {
        check();
        yield* store.read(...asked);
      },
    } satisfies Store,
  };
  return made;
}

const first = { sessionKey: "s", message: "Once only", idempotencyKey: "first" };

describe("an unreadable session", () => {
  it("fails a request instead of starting a repeated message again", async () => {
    const disk = breakable();
    const before = await gatewayWith(["One."], { store: disk.store });
    const one = await before.client();
    await one.call("chat.send", first);
    await one.end("first");
    await before[Symbol.asyncDispose]();
    await using server = await gatewayWith(["Twice!"], { store: disk.store });
    const client = await server.client();
    disk.isBroken = true;
    assert.equal(await client.refused("chat.send", first), "storage_failed");
    assert.equal(
      await client.refused("chat.subscribe", { sessionKey: "s", runId: "first", seq: 2 }),
      "storage_failed",
    );
    disk.isBroken = false;
    assert.equal((await client.call("chat.send", first)).status, "finished");
    const { runs } = await client.call("chat.subscribe", {
      sessionKey: "s",
      runId: "first",
      seq: 2,
    });
    assert.deepEqual(
      runs.map(({ state }) => state),
      ["final"],
    );
    assert.equal(server.model.calls.length, 0);
  });

  it("is skipped at startup with its pending runs, while other sessions work", async () => {
    const [disk, pending] = [breakable(), createMemoryPending()];
    const left = {
      id: "left",
      kind: "send",
      sessionKey: "s",
      agentId: "assistant",
      text: "go",
      timestamp: 1,
    } as const;
    const session = await createSession(disk.store, { id: "s" });
    await session.append({
      type: "run_start",
      runId: "left",
      model: { provider: "scripted", model: "scripted" },
    });
    await session.append({
      type: "message",
      runId: "left",
      message: { role: "user", content: "go", timestamp: 1 },
    });
    await session.close();
    await pending.add(left);
    disk.isBroken = true;
    const blind = await gatewayWith(["Begun anew!"], { store: disk.store, pending });
    disk.isBroken = false;
    const other = await blind.client();
    const { runId } = await other.call("chat.send", { sessionKey: "other", message: "Hi" });
    await other.end(runId);
    assert.deepEqual(
      (await pending.list()).filter(({ id }) => id === "left"),
      [left],
    );
    await blind[Symbol.asyncDispose]();
    await using server = await gatewayWith(["Done."], { store: disk.store, pending });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "left" });
    await client.end("left");
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(
      messages.map(({ message }) => message.role),
      ["user", "assistant"],
    );
  });

  it("is not answered by the default agent", async () => {
    const disk = breakable();
    const two = ["assistant", "other"].map((id) => ({
      id,
      model: `scripted/${id}`,
      description: "",
    }));
    const options: TestOptions = { store: disk.store, agents: () => two };
    const before = await gatewayWith([], options);
    await (await before.client()).call("sessions.create", { sessionKey: "s", agentId: "other" });
    await before[Symbol.asyncDispose]();
    await using server = await gatewayWith(["Yes."], options);
    const client = await server.client();
    disk.isBroken = true;
    assert.equal(
      await client.refused("chat.send", { sessionKey: "s", message: "Who?" }),
      "storage_failed",
    );
  });
});

it("an unreadable folder of accepted messages is an error, not an empty list", async () => {
  await using home = await temporary();
  const folder = join(home.path, "pending");
  assert.deepEqual(await createPendingFolder(folder).list(), [], "before the first");
  await symlink(folder, folder);
  await assert.rejects(createPendingFolder(folder).list(), { code: "ELOOP" });
});

it("a file that is no accepted message stays where it is, and is none", async () => {
  await using home = await temporary();
  const folder = createPendingFolder(home.path);
  const files: Record<string, string> = {
    "empty.json": "{}",
    "of-a-key.json": '{"id":"one"}',
    "of-a-session.json": '{"sessionKey":"s"}',
    "of-numbers.json": '{"id":1,"sessionKey":2}',
    "null.json": "null",
    "torn.json": '{"id":"one","sess',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(home.path, name), text);
  assert.deepEqual(await folder.list(), []);
  assert.deepEqual((await readdir(home.path)).toSorted(), Object.keys(files).toSorted());
});
