/** The hooks of settings: their shape, their matchers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readHooks } from "../../src/settings/check-hooks.ts";
import { checkSettings } from "../../src/settings/check-settings.ts";
import type { SettingsScope } from "../../src/settings/keys.ts";
import { hookToolName, matches } from "../../src/settings/hook-names.ts";

const command = { type: "command", command: "./guard.sh" };

function refusal(hooks: unknown, scope: SettingsScope = "project"): string {
  return refusalOf({ hooks }, scope);
}

function refusalOf(settings: object, scope: SettingsScope): string {
  try {
    checkSettings(JSON.stringify(settings), { path: "bowline.json", scope, env: {} });
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

describe("hooks in bowline.json", () => {
  it("are taken in Claude Code's shape", () => {
    const hooks = {
      PreToolUse: [{ matcher: "Bash|Edit", hooks: [{ ...command, timeout: 30 }] }],
      SessionStart: [{ matcher: "startup", hooks: [command] }],
      Stop: [{ hooks: [command] }],
    };
    assert.equal(refusal(hooks), "");
    assert.deepEqual(readHooks(hooks, []).hooks, hooks);
  });

  it("are refused with the place and the nearest name if something is unknown", () => {
    const group = (more: object): object => ({ PreToolUse: [{ hooks: [command], ...more }] });
    for (const [hooks, why] of [
      [{ PreToolUSe: [] }, /:1:11: There is no event "PreToolUSe"\. Did you mean "PreToolUse"\?/],
      [{ Notification: [] }, /Hooks for Notification do not run here/],
      [group({ matchers: "Bash" }), /no "matchers"\. Did you mean "matcher"/],
      [group({ matcher: "Bahs" }), /There is no tool "Bahs"\. Did you mean "Bash"/],
      [group({ matcher: "(" }), /is no regular expression/],
      [{ Stop: [{ matcher: "Bash", hooks: [] }] }, /Stop has no matcher/],
      [{ SessionStart: [{ matcher: "start", hooks: [] }] }, /no source of a session "start"/],
      [group({ hooks: [{ type: "prompt", prompt: "x" }] }), /type "command" only, not "prompt"/],
      [group({ hooks: [{ ...command, tiemout: 3 }] }), /no "tiemout"\. Did you mean "timeout"/],
      [group({ hooks: [{ ...command, timeout: 0 }] }), /number of seconds up to 3600, not 0/],
      [group({ hooks: [{ type: "command" }] }), /needs its command/],
      [[], /takes an object of events/],
    ] as const)
      assert.match(refusal(hooks), why, JSON.stringify(hooks));
  });
});

describe("a program of the user's own settings", () => {
  it("is no file of the current folder, which may be a stranger's", () => {
    for (const one of ["./guard.sh", "../guard.sh", "A=b ./guard.sh"]) {
      const hooks = { Stop: [{ hooks: [{ type: "command", command: one }] }] };
      assert.match(
        refusal(hooks, "user"),
        /would be a file of each project\. In your own settings/,
      );
      assert.equal(refusal(hooks, "local"), "");
    }
    const servers = (entry: object): object => ({ mcpServers: { x: entry } });
    const relative = { command: "./server" };
    assert.match(refusalOf(servers(relative), "user"), /"\.\/server" would be a file of each/);
    assert.equal(refusalOf(servers(relative), "project"), "");
    assert.equal(refusalOf(servers({ ...relative, cwd: "/opt/server" }), "user"), "");
    assert.equal(refusalOf(servers({ command: "npx" }), "user"), "");
  });
});

describe("servers in bowline.json", () => {
  it("are refused with the nearest name if something is unknown", () => {
    for (const [servers, why] of [
      [{ x: { comand: "npx" } }, /A server has no "comand"\. Did you mean "command"/],
      [{ x: { command: "npx", url: "https://x.org" } }, /either a command or a url/],
      [{ x: { command: "npx", type: "http" } }, /type "http" does not fit a command/],
      [{ x: { command: "npx", args: "-y" } }, /args of a server takes a list/],
      [{ x: { command: "npx", env: { A: 1 } } }, /env of a server takes an object of texts/],
      [{ x: { url: "https://x.org", type: "htp" } }, /takes one of "stdio", "http", "sse"/],
      [{ a__b: { command: "npx" } }, /"a__b" is not used: a server's name/],
      [{ _a: { command: "npx" } }, /"_a" is not used/],
      [{ x: "npx" }, /takes an object, not "npx"/],
      [["npx"], /takes an object of at most/],
    ] as const)
      assert.match(refusalOf({ mcpServers: servers }, "user"), why, JSON.stringify(servers));
    const good = { "my server.1": { command: "npx", args: [], disabled: true }, b: { url: "x" } };
    assert.equal(refusalOf({ mcpServers: good }, "user"), "");
  });
});

describe("a matcher", () => {
  it("takes the names of Claude Code's tools and of ours", () => {
    for (const matcher of [undefined, "", "*", "Bash", "bash", "Edit|Bash", "Ba.*", "^(?!Read)"])
      assert.ok(matches(matcher, "PreToolUse", "bash"), matcher);
    for (const matcher of ["Edit", "Write|Read", "BashOutput", "Read.*"])
      assert.ok(!matches(matcher, "PreToolUse", "bash"), matcher);
    assert.ok(matches("Task", "PreToolUse", "agent"));
    assert.ok(matches("Agent", "PreToolUse", "agent"));
  });

  it("takes tools of MCP servers by both names", () => {
    for (const matcher of ["mcp__notes__add", "notes__add", "mcp__notes__.*", "notes__.*"])
      assert.ok(matches(matcher, "PostToolUse", "notes__add"), matcher);
    assert.ok(!matches("mcp__other__.*", "PostToolUse", "notes__add"));
    assert.equal(hookToolName("notes__add"), "mcp__notes__add");
    assert.equal(hookToolName("edit"), "Edit");
  });
});
