/** The part of a session's runs that a client gets when it subscribes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, type AnyFrame, type TestClient, type TestGateway } from "./gateway.ts";

/** A gateway whose run `open` waits in a tool call, after the runs of `before` have ended. */
async function withOpenRun(before: readonly string[] = []): Promise<
  AsyncDisposable & {
    readonly server: TestGateway;
    /** The frames of the open run, in order. */
    readonly frames: readonly AnyFrame[];
  }
> {
  const { tool, release } = heldTool();
  const waits: ScriptedStep = {
    content: [{ type: "text", text: "one two three" }, scriptedToolCall("wait", {}, "w")],
  };
  const server = await gatewayWith([...before, waits], {
    tools: () => [tool],
    rules: { judge: () => ({ action: "allow" }), add: async () => {} },
    pace: { deltaLength: 4 },
  });
  const client = await server.client();
  for (const [index, message] of before.entries()) {
    const idempotencyKey = `ended-${index}`;
    await client.call("chat.send", { sessionKey: "s", message, idempotencyKey });
    await client.end(idempotencyKey);
  }
  await client.call("chat.send", { sessionKey: "s", message: "go", idempotencyKey: "open" });
  await client.event("chat.tool_call", "open");
  return {
    server,
    frames: client.ofRun("open"),
    async [Symbol.asyncDispose]() {
      release(); // the shutdown would wait for the tool
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Returns the event and number of each frame that the client has of the run. */
async function numbered(client: TestClient, runId: string): Promise<unknown[]> {
  await client.call("health.check", {}); // its response comes after the frames
  return client.ofRun(runId).map(({ event, data }) => [event, data?.seq]);
}

describe("a client that subscribes", () => {
  it("gets the events of the open run after its number, and no snapshot", async () => {
    await using open = await withOpenRun();
    const { server, frames } = open;
    const all = frames
      .filter(({ data }) => data?.seq !== undefined)
      .map(({ event, data }) => [event, data?.seq]);
    assert.ok(all.length > 3);
    for (const runId of [{ runId: "open" }, {}]) {
      const client = await server.client();
      await client.call("chat.subscribe", { sessionKey: "s", seq: 1, ...runId });
      assert.deepEqual(await numbered(client, "open"), all.slice(2), JSON.stringify(runId));
    }
  });

  it("gets the rest of the ended run that it names, and a snapshot of the open run", async () => {
    await using open = await withOpenRun(["Yes."]);
    const { server, frames } = open;
    const client = await server.client();
    const { runs } = await client.call("chat.subscribe", {
      sessionKey: "s",
      runId: "ended-0",
      seq: 1,
    });
    assert.deepEqual(
      runs.map(({ runId, state }) => [runId, state]),
      [
        ["ended-0", "final"],
        ["open", "running"],
      ],
    );
    assert.deepEqual(await numbered(client, "open"), [["chat.snapshot", frames.at(-1)?.data?.seq]]);
    const ended = await numbered(client, "ended-0");
    assert.deepEqual(ended.at(-1), ["chat.final", ended.length + 1]);
    assert.deepEqual(ended[0], ["chat.turn", 2]);
  });
});
