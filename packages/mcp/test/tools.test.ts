/** The tools of a server as an agent has them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, requireApproval } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import type { McpCall } from "../src/index.ts";
import { call, connect, entry } from "./support.ts";
import { until } from "../../../test/support/until.ts";

const schema = (inputSchema: unknown, name = "extra"): { tools: unknown[] } => ({
  tools: [{ name, inputSchema }],
});

describe("the schema of a tool", () => {
  const forms: Record<string, [unknown, good: object, bad: object, why: RegExp]> = {
    "without a type": [
      { properties: { a: { type: "integer" } }, required: ["a"] },
      { a: 1 },
      {},
      /a: is required/,
    ],
    "with an exclusive minimum of draft 4": [
      { type: "object", properties: { a: { type: "number", minimum: 0, exclusiveMinimum: true } } },
      { a: 1 },
      { a: 0 },
      /a: expected/,
    ],
    "with nullable": [
      {
        type: "object",
        properties: { a: { type: "string", nullable: true } },
        required: ["a"],
      },
      { a: null },
      { a: [1, 2] },
      /a: expected string or null/,
    ],
    "with $ref and definitions": [
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: { a: { $ref: "#/definitions/A" } },
        definitions: { A: { type: "string", enum: ["x"] } },
      },
      { a: "x" },
      { a: "y" },
      /a: expected one of: "x"/,
    ],
    "that is closed": [
      { type: "object", properties: {}, additionalProperties: false },
      {},
      { b: 1 },
      /b: is not expected/,
    ],
  };
  for (const [form, [inputSchema, good, bad, why]] of Object.entries(forms)) {
    it(`${form} holds the arguments to it`, async () => {
      await using connected = await connect({ servers: { s: entry(schema(inputSchema)) } });
      // The server does not know the tool: a call that reaches it is refused by the server.
      const reached = await call(connected.mcp, "s__extra", { ...good });
      assert.match(reached.text, /the server refused: .*unknown tool extra/);
      assert.match((await call(connected.mcp, "s__extra", { ...bad })).text, why);
    });
  }

  it("that cannot be read refuses that tool alone, with the reason", async () => {
    const tools = [
      { name: "no-schema" },
      { name: "text-schema", inputSchema: "object" },
      { name: "not-an-object", inputSchema: { type: "string" } },
      { name: "bad-properties", inputSchema: { type: "object", properties: [] } },
      { name: "bad-type", inputSchema: { type: "object", properties: { a: { type: "strng" } } } },
      { name: "bad-ref", inputSchema: { type: "object", properties: { a: { $ref: "#/x" } } } },
      {
        name: "remote-ref",
        inputSchema: { type: "object", properties: { a: { $ref: "http://127.0.0.1:1/" } } },
      },
      { name: "too-big", inputSchema: { type: "object", description: "d".repeat(100_001) } },
      { name: "line\nbreak", inputSchema: { type: "object" } },
      { inputSchema: { type: "object" } },
      "not a tool",
      {
        name: "odd",
        title: 5,
        description: ["x"],
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: "yes" },
        outputSchema: "none",
        icons: 7,
      },
      { name: "long", description: "d".repeat(10_000), inputSchema: { type: "object" } },
    ];
    await using connected = await connect({ servers: { s: entry({ tools }) } });
    const { mcp } = connected;
    const [server] = mcp.servers;
    const reasons = Object.fromEntries(
      (server?.problems ?? []).map((one) => [one.tool, one.reason]),
    );
    // The two without a name are called by their place in the list.
    const left = Object.keys(reasons).map((name) => name.replace(/^#\d+$/, "#"));
    assert.deepEqual(left.toSorted(), [
      "#",
      "#",
      "bad-properties",
      "bad-ref",
      "bad-type",
      "line\nbreak",
      "no-schema",
      "not-an-object",
      "remote-ref",
      "text-schema",
      "too-big",
    ]);
    assert.match(reasons["bad-ref"] ?? "", /"\$ref" to #\/x cannot be resolved/);
    const names = mcp.tools.map(({ name }) => name);
    assert.ok(names.includes("s__odd") && names.includes("s__echo"));
    const long = mcp.tools.find(({ name }) => name === "s__long");
    assert.match(long?.description ?? "", /^d{4000}… \[cut: 6000 more characters\]$/);
  });
});

describe("the tools of servers", () => {
  it("have each name once", async () => {
    const twice = { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
    await using connected = await connect({ servers: { s: entry(twice), s_: entry() } });
    const { mcp } = connected;
    const names = mcp.tools.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(mcp.servers[0]?.problems, [
      { tool: "echo", reason: "the server names it twice" },
    ]);
    assert.equal((await call(mcp, "s__echo", { text: "first" })).text, "first");
  });

  it("are chosen by the entry, and limited in number", async () => {
    await using connected = await connect({
      servers: {
        a: { ...entry(), includeTools: ["echo", "env", "never"], excludeTools: ["env"] },
        b: entry(),
      },
      limits: { tools: 3 },
    });
    const [a, b] = connected.mcp.servers;
    assert.deepEqual(a?.tools, ["a__echo", "a__never"]);
    assert.equal(b?.tools.length, 3);
    assert.match(b?.problems[0]?.reason ?? "", /more than 3 tools/);
  });

  it("follow the server's list, in a run that is going on", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    const { mcp, events } = connected;
    const { model, streamFn } = createScriptedModel([
      { content: [scriptedToolCall("s__change", {})], stopReason: "toolUse" },
      // The list is read before the call's result is there.
      ({ tools = [] }) => `added: ${tools.some(({ name }) => name === "s__added")}`,
    ]);
    const agent = new Agent({ model, streamFn, tools: mcp.tools });
    const unsubscribe = mcp.onToolsChanged((tools) => (agent.state.tools = tools));
    assert.equal((await agent.prompt("go")).text, "added: true");
    await call(mcp, "s__change", { add: false });
    await until(() => !agent.state.tools.some(({ name }) => name === "s__added"));
    unsubscribe();
    const changes = events.filter(({ type }) => type === "tools_changed");
    assert.deepEqual(changes, [
      { type: "tools_changed", server: "s", added: ["s__added"], removed: [] },
      { type: "tools_changed", server: "s", added: [], removed: ["s__added"] },
    ]);
  });

  it("give their results as the server does", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    const { mcp } = connected;
    const failed = await call(mcp, "s__reply", {
      result: { content: [{ type: "text", text: "not there" }], isError: true },
    });
    assert.deepEqual([failed.isError, failed.text], [true, "not there"]);
    const structured = await call(mcp, "s__structured", { value: 5 });
    assert.deepEqual([structured.isError, structured.details], [false, { value: 5 }]);
    const lie = await call(mcp, "s__structured", { value: "five" });
    assert.ok(lie.isError);
    assert.match(lie.text, /does not fit its own schema: value expected number/);
    for (const result of [5, { content: "text" }, { content: [{ type: "video" }] }, []]) {
      const bad = await call(mcp, "s__reply", { result: { content: [{ ...Object(result) }] } });
      assert.ok(bad.isError);
      assert.match(bad.text, /it ran, and its answer is not valid: content\.0[\w.]*: [^{]+$/);
    }
  });
});

describe("the approval of a call", () => {
  it("is needed by default, whatever the server says of its tool", async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false };
    const tools = [{ name: "safe", inputSchema: { type: "object" }, annotations }];
    await using connected = await connect({
      servers: { s: entry({ tools }) },
      needsApproval: undefined,
    });
    const result = await call(connected.mcp, "s__safe");
    assert.ok(result.isError);
    assert.match(result.text, /approval/);
  });

  it("is decided by a function of server, tool and arguments", async () => {
    const asked: McpCall[] = [];
    await using connected = await connect({
      servers: { s: entry() },
      needsApproval: (about) => {
        asked.push(about);
        return about.tool === "echo" && "it speaks";
      },
    });
    const { mcp } = connected;
    const { model, streamFn } = createScriptedModel([
      { content: [scriptedToolCall("s__echo", { text: "hi" })], stopReason: "toolUse" },
      "done",
    ]);
    const reasons: (string | undefined)[] = [];
    const beforeToolCall = requireApproval();
    const agent = new Agent({ model, streamFn, tools: mcp.tools, beforeToolCall });
    agent.subscribe((event) => {
      if (event.type !== "approval_request") return;
      reasons.push(event.reason);
      agent.answer(event.approvalId, { decision: "allow" });
    });
    await agent.prompt("go");
    assert.deepEqual(reasons, ["it speaks"]);
    assert.deepEqual(asked, [{ server: "s", tool: "echo", args: { text: "hi" }, hints: {} }]);
    assert.match((await call(mcp, "s__cancelled")).text, /^0$/);
  });
});
