/** Rules for the tools of MCP servers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPermissions, type Permissions } from "../../src/policy/permissions.ts";
import { parseRule } from "../../src/policy/rule-text.ts";
import { refusalOf } from "../../src/project/tool-limits.ts";
import { toolRules } from "../../src/project/tool-rules.ts";
import { coversTool } from "../../src/policy/server-tool.ts";

const call = { tool: "github__create_issue", args: { title: "x" } };

function rules(permissions: {
  readonly allow?: string[];
  readonly ask?: string[];
  readonly deny?: string[];
}): Permissions {
  return createPermissions({ sources: [{ path: "mine.json", scope: "user", permissions }] });
}

describe("a call of a server's tool", () => {
  it("is asked about without a rule, whatever its arguments are", () => {
    for (const args of [{}, { path: "a.txt" }, { command: "git status" }]) {
      const { action, reason } = rules({}).judge({ tool: call.tool, args });
      assert.equal(action, "ask");
      assert.match(reason, /No rule allows github__create_issue, a tool of an MCP server/);
    }
  });

  it("is allowed, asked about or denied by its name, by its server or by *", () => {
    for (const rule of ["github__create_issue", "github__*", "*"]) {
      const { action, reason } = rules({ allow: [rule] }).judge(call);
      assert.equal(action, "allow");
      assert.ok(reason.startsWith(`${rule} (mine.json) allows it.`), reason);
      assert.equal(rules({ allow: ["github__*"], ask: [rule] }).judge(call).action, "ask");
      assert.equal(rules({ allow: ["github__*"], deny: [rule] }).judge(call).action, "deny");
    }
    for (const rule of ["github__create", "git__*", "github_x__*", "create_issue", "bash"])
      assert.equal(rules({ allow: [rule] }).judge(call).action, "ask", rule);
  });

  it("is not allowed by a pattern of paths, and may be denied by one", () => {
    const read = { tool: "files__read", args: { path: "src/a.ts" } };
    assert.equal(rules({ allow: ["*(src/**)"] }).judge(read).action, "ask");
    const allow = ["files__*"];
    assert.equal(rules({ allow, deny: ["*(src/**)"] }).judge(read).action, "deny");
    assert.equal(rules({ allow, deny: ["*(src/**)"] }).judge({ ...read, args: {} }).action, "ask");
  });

  it("has two rules to remember: for the tool, and for its server", () => {
    assert.deepEqual(
      rules({})
        .suggest(call)
        .map(({ rule }) => rule),
      ["github__create_issue", "github__*"],
    );
  });
});

describe("the tools of a sub-agent's definition", () => {
  it("may name servers' tools as other programs write them", () => {
    const { rules: read } = toolRules(["Read", "mcp__github", "mcp__Notes__addNote", "a__b"]);
    assert.deepEqual(
      read.map(({ tool }) => tool),
      ["read", "github__*", "Notes__addNote", "a__b"],
    );
    const limits = { tools: read, disallowedTools: toolRules(["mcp__github__drop"]).rules };
    assert.equal(refusalOf("agent", limits, "github__search", {}), undefined);
    assert.match(refusalOf("agent", limits, "github__drop", {})?.reason ?? "", /may not use/);
    assert.match(refusalOf("agent", limits, "other__x", {})?.reason ?? "", /may only use/);
  });
});

describe("a rule for servers", () => {
  it("takes no pattern and no star but the last", () => {
    for (const [text, why] of [
      ["github__create_issue(x)", /takes no pattern/],
      ["github__create*", /write server__tool, or server__\*/],
      ["git*__x", /write server__tool/],
      ["mcp__github__create_issue", /named without mcp__: github__create_issue/],
      ["mcp__github", /named without mcp__: github__\*/],
    ] as const)
      assert.throws(() => parseRule(text, "allow"), why);
  });

  it("covers no server whose name only begins alike", () => {
    assert.ok(coversTool("a__*", "a__b"));
    assert.ok(!coversTool("a__*", "ab__c"));
    assert.ok(!coversTool("a__*", "bash"));
  });
});
