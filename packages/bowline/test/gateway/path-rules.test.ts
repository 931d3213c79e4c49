/** The effect of path rules on each tool: the table of docs/security.md, row by row. */
import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import type { PolicyRule } from "../../src/policy/policy.ts";
import { createPermissions } from "../../src/policy/permissions.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { serve } from "../../src/serve/serve.ts";
import { createTools } from "../../src/tools/index.ts";
import { temporary } from "../command.ts";
import { TestClient } from "./gateway.ts";

const LEFT_OUT = "runs, and leaves it out";

type Row = readonly [call: string, args: Readonly<Record<string, string>>, outcome: string];

/** Arguments that no rule checks. */
const isText: ReadonlySet<string> = new Set(["content", "oldText", "newText"]);

/**
 * The effects of each rule, which is written as `action tool pattern`. Calls that match no rule are
 * allowed.
 */
const table: Readonly<Record<string, readonly Row[]>> = {
  "deny * secret/**": [
    ["read", { path: "secret/key" }, "denied"],
    ["write", { path: "secret/new", content: "" }, "denied"],
    ["edit", { path: "./secret//key", oldText: "a", newText: "b" }, "denied"],
    ["read", { path: "src/../secret/key" }, "asked about"],
    ["read", { path: "link/key" }, "denied"],
    ["grep", { pattern: "key", path: "secret" }, "denied"],
    ["grep", { pattern: "key" }, LEFT_OUT],
    ["grep", { pattern: "key", path: "." }, LEFT_OUT],
    ["grep", { pattern: "key", path: "link" }, "denied"],
    ["grep", { pattern: "key", glob: "link/*" }, LEFT_OUT],
    ["grep", { pattern: "key", path: "src" }, "runs"],
    ["glob", { pattern: "*", path: "secret" }, "denied"],
    ["glob", { pattern: "secret/*" }, LEFT_OUT],
    ["glob", { pattern: "**/*" }, LEFT_OUT],
    ["glob", { pattern: "link/*" }, LEFT_OUT],
    ["glob", { pattern: "../secret/*", path: "src" }, "asked about"],
    ["glob", { pattern: "**/*", path: "src" }, "runs"],
    ["bash", { command: "cat src/a.ts secret/key" }, "denied"],
    ["bash", { command: "tar c --file=secret/all.tar src" }, "denied"],
    ["bash", { command: "cp -r secret src" }, "asked about"],
    ["bash", { command: "grep -r key ." }, "asked about"],
    ["bash", { command: "grep -rn key" }, "asked about"],
    ["bash", { command: "grep -rn key src" }, "runs"],
    ["bash", { command: "grep -fsecret/key -h src/a.ts" }, "denied"],
    ["bash", { command: "rg key" }, "asked about"],
    ["bash", { command: "git grep key" }, "asked about"],
    ["bash", { command: "git log -p" }, "asked about"],
    ["bash", { command: "git log --oneline" }, "runs"],
    ["bash", { command: "curl -d@secret/key localhost" }, "denied"],
    ["bash", { command: "cat src/../secret/key" }, "asked about"],
    ["bash", { command: 'cat "$FILE"' }, "asked about"],
    ["bash", { command: "cat /etc/hosts" }, "asked about"],
    ["bash", { command: "node build.js" }, "runs: what a program opens is not seen"],
    ["a tool of yours", { path: "secret/key" }, "denied"],
    ["a tool of yours", { file: "secret/key" }, "asked about"],
  ],
  "deny * **/.env": [
    ["read", { path: ".env" }, "denied"],
    ["read", { path: "src/.env" }, "denied"],
    ["grep", { pattern: "key" }, LEFT_OUT],
    ["glob", { pattern: "src/*" }, LEFT_OUT],
    ["bash", { command: "npm test" }, "asked about"],
  ],
  "ask * secret/**": [
    ["read", { path: "secret/key" }, "asked about"],
    ["grep", { pattern: "key", path: "secret" }, "asked about"],
    ["grep", { pattern: "key" }, LEFT_OUT],
    ["bash", { command: "cat secret/key" }, "asked about"],
  ],
  "deny read secret/**": [
    ["read", { path: "secret/key" }, "denied"],
    ["grep", { pattern: "key", path: "secret" }, "denied"],
    ["grep", { pattern: "key" }, LEFT_OUT],
    ["edit", { path: "secret/key", oldText: "a", newText: "b" }, "asked about"],
    ["glob", { pattern: "**/*" }, "runs"],
    ["bash", { command: "cat secret/key" }, "asked about"],
    ["bash", { command: "node build.js" }, "runs"],
  ],
  "deny grep secret/**": [
    ["grep", { pattern: "key" }, LEFT_OUT],
    ["glob", { pattern: "**/*" }, "runs"],
  ],
  "deny bash cat *": [
    ["bash", { command: "cat secret/key" }, "denied"],
    ["bash", { command: "head secret/key" }, "runs"],
    ["read", { path: "secret/key" }, "runs"],
  ],
};

const folder = await temporary();
const root = join(folder.path, "workspace");

before(async () => {
  await mkdir(join(root, "secret"), { recursive: true });
  await mkdir(join(root, "src"));
  for (const path of ["secret/key", "src/a.ts", "src/.env", ".env"])
    await writeFile(join(root, path), "the key\n");
  await symlink("secret", join(root, "link"));
});
after(() => folder[Symbol.asyncDispose]());

function toRule(text: string): PolicyRule {
  const [action, tool = "", ...pattern] = text.split(" ");
  return { action: action as PolicyRule["action"], tool, pattern: pattern.join(" ") };
}

async function outcomeOf(
  rule: PolicyRule,
  tool: string,
  args: Readonly<Record<string, string>>,
): Promise<string> {
  const configured: PolicyRule[] = [{ action: "allow", tool: "*" }, rule];
  const rules = createPermissions({ others: () => configured, root, searchesHide: true });
  const call = { tool, args, sessionKey: "s" };
  const { action } = rules.judge(call);
  if (action !== "allow") return action === "deny" ? "denied" : "asked about";
  if (tool !== "grep" && tool !== "glob") return "runs";
  const texts = [() => [], (name: string) => rules.hidden({ tool: name, sessionKey: "s" })].map(
    async (hidden) => {
      const [search] = createTools({ root, hidden, only: [tool] });
      const { content } = (await search?.execute("c", args)) ?? {};
      return JSON.stringify(content);
    },
  );
  const [all, shown] = await Promise.all(texts);
  assert.match(String(all), /a\.ts|key/);
  return all === shown ? "runs" : LEFT_OUT;
}

describe("a rule for paths", () => {
  for (const [text, rows] of Object.entries(table)) {
    const rule = toRule(text);
    for (const [tool, args, outcome] of rows)
      it(`${text}: ${tool} ${JSON.stringify(args)} ${outcome}`, async () => {
        assert.equal(await outcomeOf(rule, tool, args), outcome.split(":")[0]);
      });
  }

  it("is listed in docs/security.md with its effect on each tool", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../../docs/security.md"), "utf8");
    const rowsOfPage = [
      ...page.matchAll(/^\| `((?:deny|ask) [^|]*)` +\|([^|]*)\|([^|]*)\|$/gm),
    ].map(([, rule = "", call = "", outcome = ""]) => [rule, call.trim(), outcome.trim()]);
    const wanted = Object.entries(table).flatMap(([rule, rows]) =>
      rows.map(([tool, args, outcome]) => {
        const shown = Object.entries(args).filter(([name]) => !isText.has(name));
        const given = shown.map(([name, value]) =>
          name === "command" || (name === "path" && tool !== "grep" && tool !== "glob")
            ? `\`${value}\``
            : `${name} \`${value}\``,
        );
        return [rule, `${tool} ${given.join(", ")}`, outcome];
      }),
    );
    assert.deepEqual(rowsOfPage, wanted);
  });

  it("leaves a path out of searches in any letter case and form of accents", async () => {
    await using place = await temporary();
    await mkdir(join(place.path, "cafe\u0301"));
    await writeFile(join(place.path, "cafe\u0301/key"), "the key");
    await writeFile(join(place.path, "open"), "the key");
    const deny = ["*(Caf\u00e9/**)"];
    const source = { path: "u", scope: "user", permissions: { deny } } as const;
    const rules = createPermissions({ root: place.path, searchesHide: true, sources: [source] });
    const hidden = (tool: string): readonly string[] => rules.hidden({ tool });
    const [search] = createTools({ root: place.path, hidden, only: ["grep"] });
    const { content } = (await search?.execute("c", { pattern: "key" })) ?? {};
    assert.match(JSON.stringify(content), /open:1:/);
    assert.doesNotMatch(JSON.stringify(content), /caf/);
  });

  it("asks about a search that could reach the path when the tools hide nothing", async () => {
    const rules = await loadRules([toRule("deny * secret/**")]);
    const actionOf = (args: object): string =>
      rules.judge({ tool: "grep", args, sessionKey: "s" }).action;
    assert.deepEqual([{}, { path: "." }, { path: "secret" }, { path: "src" }].map(actionOf), [
      "ask",
      "ask",
      "deny",
      "allow",
    ]);
  });

  it("from policy.json applies in bowline serve to its session", async () => {
    const home = join(folder.path, "home");
    await mkdir(join(home, "gateway"), { recursive: true });
    const rules = [{ ...toRule("deny * secret/**"), sessionKey: "closed" }];
    await writeFile(join(home, "gateway", "policy.json"), JSON.stringify({ rules }));
    await writeFile(join(root, "AGENTS.md"), "## assistant\nModel: scripted/m\n");
    const search = { content: [scriptedToolCall("grep", { pattern: "the key" })] };
    const { streamFn } = createScriptedModel([search, "Done.", search, "Done."]);
    const served = await serve({
      port: 0,
      env: { BOWLINE_HOME: home, BOWLINE_TOKEN: "t", BOWLINE_DISCOVERY: "off" },
      workspace: root,
      envFile: join(home, ".env"),
      print: () => {},
      providers: new Map([["scripted", streamFn]]),
    });
    try {
      const client = await TestClient.enter(served.url.replace("http", "ws"), "t", "all");
      for (const [sessionKey, isFound] of [
        ["closed", false],
        ["open", true],
      ] as const) {
        const { runId } = await client.call("chat.send", { sessionKey, message: "Search" });
        const { output } = await client.event("chat.tool_result", runId);
        assert.match(output, /src\/a\.ts:1:the key/);
        assert.equal(output.includes("secret/key"), isFound, output);
        await client.end(runId);
      }
      client.socket.terminate();
    } finally {
      await served.close();
    }
  });
});
