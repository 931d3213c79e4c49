/** MCP servers and hooks of `bowline serve`: a separate process, a model server on loopback. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chatText, loopback } from "../../../test/support/loopback.ts";
import { temporary } from "./command.ts";
import { TestClient } from "./gateway/gateway.ts";
import { calls } from "./project/calls.ts";
import { started } from "./serving.ts";

describe("bowline serve with an MCP server", () => {
  it("logs its state, waits for it in a run, asks about its tools, and ends it", async () => {
    await using home = await temporary();
    const mark = join(home.path, "mark");
    const folder = join(home.path, "project");
    await mkdir(folder);
    await mkdir(join(home.path, "data"));
    const program = join(import.meta.dirname, "project/mcp-server.mjs");
    const plan = JSON.stringify({ waitMs: 3_000, mark });
    const notes = { command: process.execPath, args: [program, plan] };
    const settings = JSON.stringify({ mcpServers: { notes } });
    await writeFile(join(home.path, "data", "bowline.json"), settings);
    await using model = await loopback(
      calls("notes__note", { text: "moored" }),
      chatText("It is noted."),
    );
    await using server = await started(home.path, ["--port", "0", "-w", folder], {
      BOWLINE_TOKEN: "mysecrettoken",
      BOWLINE_MODEL: "deepseek/m",
      DEEPSEEK_API_KEY: "sk-0123456789",
      DEEPSEEK_BASE_URL: model.baseUrl,
    });
    const client = await TestClient.enter(server.url.replace("http", "ws"), "mysecrettoken", "all");
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Note it" });
    await server.until(/^A run waits for MCP servers, at most 30 s: notes$/m);
    await server.until(/^MCP server "notes" is connected: 2 tools\.$/m);
    const { approvalId, toolName } = await client.event("exec.approval_request", runId);
    assert.equal(toolName, "notes__note");
    await client.call("exec.approve", { approvalId });
    await client.event("chat.final", runId);
    client.socket.terminate();
    assert.match(model.requests[1]?.body ?? "", /Noted: moored/);
    const pid = Number(await readFile(mark, "utf8"));
    process.kill(pid, 0); // it runs
    server.child.kill("SIGTERM");
    assert.equal((await server.end())[0], 0);
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
});

describe("bowline serve with hooks", () => {
  it("refuses a call by a hook, and names the hooks that never run", async () => {
    await using home = await temporary();
    const folder = join(home.path, "project");
    await mkdir(folder);
    await mkdir(join(home.path, "data"));
    const one = (command: string): object[] => [{ hooks: [{ type: "command", command }] }];
    const hooks = {
      PreToolUse: one("cat > call.json; echo 'Not here.' >&2; exit 2"),
      Stop: one("exit 0"),
    };
    const settings = JSON.stringify({ hooks, permissions: { allow: ["bash", "read"] } });
    await writeFile(join(home.path, "data", "bowline.json"), settings);
    await using model = await loopback(
      calls("bash", { command: "touch made" }),
      chatText("It was refused."),
    );
    await using server = await started(home.path, ["--port", "0", "-w", folder], {
      BOWLINE_TOKEN: "mysecrettoken",
      BOWLINE_MODEL: "deepseek/m",
      DEEPSEEK_API_KEY: "sk-0123456789",
      DEEPSEEK_BASE_URL: model.baseUrl,
    });
    await server.until(/^workspace: Hooks for Stop do not run under bowline serve\.$/m);
    const client = await TestClient.enter(server.url.replace("http", "ws"), "mysecrettoken", "all");
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Make it" });
    await client.event("chat.final", runId);
    client.socket.terminate();
    assert.match(model.requests[1]?.body ?? "", /A hook refused the call: Not here\./);
    const call = JSON.parse(await readFile(join(folder, "call.json"), "utf8")) as object;
    assert.deepEqual(
      { ...call, tool_use_id: "" },
      {
        session_id: "s",
        cwd: folder,
        permission_mode: "default",
        hook_event_name: "PreToolUse",
        tool_name: "Bash",
        tool_input: { command: "touch made" },
        tool_use_id: "",
      },
    );
    await assert.rejects(readFile(join(folder, "made")), { code: "ENOENT" });
  });
});
