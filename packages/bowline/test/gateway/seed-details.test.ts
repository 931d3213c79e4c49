/** Details of seed 003 that no other test covers: defaults, orders, and events after a failure. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { BowlineError, defineTool, type AgentMessage } from "@bowline/core";
import { createMemoryStore, createSession } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import { loadRules, serve } from "bowline/gateway";
import { temporary } from "../command.ts";
import { gatewayWith } from "./gateway.ts";

describe("an endless run", () => {
  // Requirements: X16
  it("stops at the gateway's limit of turns, with a final event", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { type: "object", properties: {} },
      execute: () => "",
    });
    const content = [{ type: "text" as const, text: "So far." }, scriptedToolCall("look", {})];
    const rules = await loadRules([{ action: "allow", tool: "look" }]);
    const options = { tools: () => [look], rules, limits: { maxTurns: 2 } };
    await using server = await gatewayWith([{ content }, { content }, "Never."], options);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    assert.equal((await client.event("chat.final", runId)).stopReason, "budget");
    assert.deepEqual([server.model.calls.length, client.text(runId)], [2, "So far.So far."]);
  });
});

describe("a failed run", () => {
  // Requirements: J32
  it("is reported by one chat.error with its id and message, and no further event", async () => {
    await using server = await gatewayWith([
      { content: [], error: new BowlineError("refusal", "No.") },
    ]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    const { message, errorKind } = await client.event("chat.error", runId);
    assert.deepEqual([message, errorKind], ["No.", "refusal"]);
    await client.call("health.check", {});
    assert.equal(client.ofRun(runId).at(-1)?.event, "chat.error");
  });
});

describe("a request without options", () => {
  // Requirements: J31
  it("uses the agent `assistant`, wherever it is listed, or else the first", async () => {
    const agents = ["first", "assistant"].map((id) => ({
      id,
      model: `scripted/${id}`,
      description: "",
    }));
    await using server = await gatewayWith([], { agents: () => agents });
    const { welcome } = await server.client();
    assert.deepEqual(
      [welcome.model.agentId, welcome.model.wanted],
      ["assistant", "scripted/assistant"],
    );
    await using other = await gatewayWith([], { agents: () => agents.slice(0, 1) });
    assert.equal((await other.client()).welcome.model.agentId, "first");
  });

  // Requirements: X25
  it("returns a hundred messages of the history, and sessions latest first", async () => {
    const store = createMemoryStore();
    for (const [at, id] of ["old", "new", "older"].entries()) {
      const time = [200, 300, 100][at] ?? 0;
      const clock = { now: () => time, setTimer: () => () => {} };
      const session = await createSession(store, { id, clock });
      const count = id === "new" ? 101 : 1;
      for (let n = 0; n < count; n++) {
        const message: AgentMessage = { role: "user", content: `${n}`, timestamp: time };
        await session.append({ type: "message", message });
      }
      await session.close();
    }
    await using server = await gatewayWith([], { store });
    const client = await server.client();
    const { sessions } = await client.call("sessions.list", {});
    assert.deepEqual(
      sessions.map(({ sessionKey }) => sessionKey),
      ["new", "old", "older"],
    );
    const { messages, hasMore } = await client.call("chat.history", { sessionKey: "new" });
    assert.deepEqual([messages.length, hasMore], [100, true]);
  });
});

describe("the server", () => {
  // Requirements: J35
  it("listens on port 18789 by default", async () => {
    await using home = await temporary();
    const holder = createServer();
    holder.on("error", () => {}); // if another process has the port, the test works as well
    holder.listen(18_789, "127.0.0.1");
    await Promise.race([once(holder, "listening"), once(holder, "error")]).catch(() => {});
    try {
      const env = { BOWLINE_HOME: home.path };
      await assert.rejects(serve({ env, envFile: join(home.path, ".env") }), {
        code: "EADDRINUSE",
        port: 18_789,
      });
    } finally {
      holder.close();
    }
  });

  // Requirements: J35
  it("listens on BOWLINE_HOST and BOWLINE_PORT, and options win", async () => {
    await using home = await temporary();
    const settings = { envFile: join(home.path, ".env") };
    const env = { BOWLINE_HOME: home.path, BOWLINE_HOST: "0.0.0.0", BOWLINE_PORT: "none" };
    await assert.rejects(
      serve({ ...settings, env }),
      /BOWLINE_PORT takes a number up to 65535, not "none"/,
    );
    await assert.rejects(
      serve({ ...settings, env, port: 0 }),
      /0\.0\.0\.0 can be reached by other machines/,
    );
    const served = await serve({ ...settings, env, port: 0, host: "127.0.0.1" });
    assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    await served.close();
  });

  // Requirements: J34
  it("is started by the repository's `dev` script", async () => {
    const root = join(import.meta.dirname, "../../../..");
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: { dev: string };
    };
    const [program, ...args] = scripts.dev.split(" ");
    assert.equal(program, "node");
    const { stdout } = await promisify(execFile)(process.execPath, [...args, "--help"], {
      cwd: root,
    });
    assert.match(stdout, /bowline serve/);
  });
});
