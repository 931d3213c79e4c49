import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { closeCodes, errorNumbers, plainEvents } from "../../src/gateway/protocol/frame.ts";
import { events, methods } from "../../src/gateway/protocol/schema.ts";
import { eventTable, methodTable } from "./protocol-tables.ts";

const file = join(import.meta.dirname, "../../../../docs/gateway.md");

const codes = (table: Readonly<Record<string, number>>): string =>
  Object.entries(table)
    .map(([name, code]) => `${code} \`${name}\``)
    .join(", ");

const parts: Readonly<Record<string, string>> = {
  methods: methodTable(),
  events: eventTable(),
  errors: codes(errorNumbers),
  closes: codes(closeCodes),
  plain: plainEvents.map((name) => `\`${name}\``).join(", "),
};

/** Removes the padding that a formatter adds to tables. */
const squeezed = (text: string): string => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");

describe("docs/gateway.md", () => {
  it("contains the tables generated from the schemas; BOWLINE_WRITE_DOCS=1 writes them", () => {
    const before = readFileSync(file, "utf8");
    const after = before.replaceAll(
      /<!-- (\w+) -->\n[^]*?<!-- end -->/g,
      (_, name: string) => `<!-- ${name} -->\n\n${parts[name] ?? "?"}\n\n<!-- end -->`,
    );
    for (const name of Object.keys(parts)) assert.ok(before.includes(`<!-- ${name} -->`), name);
    if (process.env.BOWLINE_WRITE_DOCS === "1") writeFileSync(file, after);
    else assert.ok(squeezed(before) === squeezed(after), "docs/gateway.md is stale");
  });
});

for (const example of [
  "examples/18-gateway.ts",
  "examples/19-own-server.ts",
  "examples/20-conversation.ts",
])
  describe(example, () => {
    it("shows an example with its output", async () => {
      const root = join(import.meta.dirname, "../../../..");
      const source = readFileSync(join(root, example), "utf8");
      const options = ["--conditions=@bowline/source", example];
      const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: root });
      assert.equal(stdout, /\/\* Prints:\n(.*)\*\/\n$/s.exec(source)?.[1]);
    });
  });

describe("the protocol", () => {
  it("has exactly these methods, events and error numbers", () => {
    assert.deepEqual(Object.keys(methods), [
      "health.check",
      "agents.list",
      ...["create", "list", "get", "patch", "reset", "delete", "fork"].map(
        (name) => `sessions.${name}`,
      ),
      ...[
        "send",
        "steer",
        "followUp",
        "abort",
        "history",
        "message",
        "subscribe",
        "unsubscribe",
      ].map((name) => `chat.${name}`),
      "approvals.list",
      "approvals.resolve",
      "exec.approve",
      "exec.deny",
    ]);
    assert.deepEqual(Object.keys(events), [
      "chat.user",
      "chat.queued",
      "chat.delta",
      "chat.thinking",
      "chat.tool_call",
      "tool.progress",
      "chat.tool_result",
      "chat.turn",
      "chat.notice",
      "chat.snapshot",
      "chat.final",
      "chat.error",
      "chat.aborted",
      "exec.approval_request",
      "exec.approval_resolved",
      "sessions.changed",
      "tick",
      "shutdown",
    ]);
    assert.deepEqual(errorNumbers, {
      parse: -32700,
      bad_request: -32600,
      unknown_method: -32601,
      bad_params: -32602,
      internal: -32603,
      unauthorized: -32001,
      forbidden: -32003,
      not_found: -32004,
      conflict: -32009,
      busy: -32029,
    });
  });
});
