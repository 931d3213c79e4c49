/** Calls that try to get past rules that are harmless, and random commands compared with bash. */
import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { systemClock, type BeforeToolCallContext } from "@bowline/core";
import { createGate } from "../../src/chat/gate.ts";
import { createApprover } from "../../src/cli/approve.ts";
import { createPermissions, type Permissions } from "../../src/policy/permissions.ts";
import type { Approver } from "../../src/record/run-setup.ts";
import { openGatewayRules } from "../../src/serve/gateway-rules.ts";
import { styleFor } from "../../src/terminal.ts";
import { createTools } from "../../src/tools/index.ts";
import { temporary } from "../command.ts";
import { escapeRows, harmless, shownCall, type EscapeRow } from "./escape-rows.ts";

const folder = await temporary();
const root = join(folder.path, "workspace");

before(async () => {
  await mkdir(join(root, "secret"), { recursive: true });
  await mkdir(join(root, "src"));
  await writeFile(join(root, "secret/key"), "the key\n");
  await writeFile(join(root, "src/a.ts"), "the key\n");
  await symlink("secret", join(root, "link"));
  await symlink("../secret", join(root, "src/out"));
  await symlink(folder.path, join(root, "src/away"));
});
after(() => folder[Symbol.asyncDispose]());

function permissions(): Permissions {
  return createPermissions({
    root,
    searchesHide: true,
    sources: [{ path: "bowline.json", scope: "user", permissions: harmless }],
  });
}

/** A call whose question is never answered. */
function contextOf(name: string, args: object): BeforeToolCallContext {
  const run = {
    approvedTools: new Set(),
    clock: systemClock,
    emit: async () => {},
    waitFor: () => Promise.reject(new Error("nobody answers")),
  };
  const toolCall = { type: "toolCall", id: "1", name, arguments: args };
  return { toolCall, args, run, idempotencyKey: "1" } as unknown as BeforeToolCallContext;
}

async function outcomeOf({ tool = "bash", call }: EscapeRow): Promise<string> {
  const rules = permissions();
  const path = call.replace("/ROOT", root);
  const args =
    tool === "bash" ? { command: call } : { path, pattern: tool === "glob" ? "**" : "key" };
  const { action } = rules.judge({ tool, args });
  if (action !== "allow") return action === "deny" ? "denied" : "asked about";
  if (tool !== "grep" && tool !== "glob") return "runs";
  const [search] = createTools({
    root,
    only: [tool],
    hidden: (name) => rules.hidden({ tool: name }),
  });
  const { content } = (await search?.execute("c", args)) ?? {};
  const text = JSON.stringify(content);
  assert.match(text, /a\.ts/);
  return text.includes("secret") ? "runs" : "left out";
}

describe("an escape from harmless rules", () => {
  for (const row of escapeRows)
    it(`${row.tried}: ${JSON.stringify(row.call)} is ${row.outcome}`, async () => {
      assert.equal(await outcomeOf(row), row.outcome);
    });

  it("has the same outcome in bowline run, the conversation and bowline serve", async () => {
    const env = { BOWLINE_HOME: join(folder.path, "home") };
    await mkdir(env.BOWLINE_HOME);
    await writeFile(
      join(env.BOWLINE_HOME, "bowline.json"),
      JSON.stringify({ permissions: harmless }),
    );
    const own = permissions();
    const gateway = join(env.BOWLINE_HOME, "gateway");
    const { rules } = await openGatewayRules({ home: gateway, workspace: root, env });
    const approvers = (yes: boolean): Approver[] => [
      createApprover({
        yes,
        permissions: own,
        style: styleFor(process.stderr, {}),
        onInterrupt() {},
      }),
      createGate({ permissions: () => own, isPlan: () => false, sessionKey: () => "", yes }),
    ];
    for (const { tool = "bash", call, outcome } of escapeRows) {
      if (outcome === "left out") continue;
      const path = call.replace("/ROOT", root);
      const args = tool === "bash" ? { command: call } : { path, pattern: "key" };
      const action = outcome === "denied" ? "deny" : "ask";
      assert.equal(rules.judge({ tool, args, sessionKey: "s" }).action, action, call);
      for (const yes of [false, true])
        for (const approve of approvers(yes)) {
          const result = await approve(contextOf(tool, args), AbortSignal.abort());
          const isBlocked = result !== undefined && "block" in result && result.block === true;
          assert.equal(isBlocked, !yes || outcome === "denied", `${call}, --yes: ${yes}`);
        }
    }
  });

  it("is asked about also where nothing is denied", () => {
    const rules = createPermissions({
      root,
      sources: [{ path: "x", scope: "user", permissions: { allow: harmless.allow } }],
    });
    for (const { tool, call } of escapeRows)
      if (tool === undefined && !/secret\/|link\/|grep -r|log -p/i.test(call))
        assert.equal(rules.judge({ tool: "bash", args: { command: call } }).action, "ask", call);
  });

  it("differs from what the rules are for, which runs", () => {
    const calls = [
      "git log --oneline -5",
      "git log --format=%h 2>/dev/null | sort -u",
      "git status && ls -la src",
      "find . -name '*.ts' -type f",
      "npm test 2>&1",
      "cat src/a.ts\ngit status",
      "tar tf a.tar",
      "tar -tvzf a.tgz --strip-components=1",
      "git show --stat HEAD && git commit -m 'a b'",
      "git --version",
      "npm ls --depth=0",
      "node --version",
      "node --test --test-name-pattern=a --no-warnings dist/a.test.js --verbose",
      "curl -sSL -H 'Accept: text/plain' --max-time 5 localhost:8080/x",
      "wget -q --spider localhost",
      "uniq -c a",
      "tree -L 2 src",
    ];
    const rules = createPermissions({
      root,
      sources: [{ path: "x", scope: "user", permissions: { allow: harmless.allow } }],
    });
    for (const command of calls) {
      const { action, reason } = rules.judge({ tool: "bash", args: { command } });
      assert.equal(action, "allow", `${command}: ${reason}`);
    }
  });

  it("is listed in docs/security.md with its outcome", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../../docs/security.md"), "utf8");
    const form = /^\| (.+?) +\| (`.+`) +\| (asked about|denied|left out) +\|$/gm;
    const found = [...page.matchAll(form)];
    const rows = found.map(([, tried = "", call = "", outcome = ""]) => [tried, call, outcome]);
    assert.deepEqual(
      rows,
      escapeRows.map((row) => [row.tried, shownCall(row), row.outcome]),
    );
  });
});
