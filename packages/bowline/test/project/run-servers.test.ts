/** MCP servers of `bowline run`: real processes, a model server on loopback. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chatText, loopback } from "../../../../test/support/loopback.ts";
import { bowline, temporary } from "../command.ts";
import { calls } from "./calls.ts";

const program = join(import.meta.dirname, "mcp-server.mjs");

/** The entry of the small server. */
function server(plan: object = {}): { command: string; args: string[] } {
  return { command: process.execPath, args: [program, JSON.stringify(plan)] };
}

async function place() {
  const folder = await temporary();
  const root = join(folder.path, "project");
  const data = join(folder.path, "data");
  await mkdir(join(root, ".git"), { recursive: true });
  await mkdir(data);
  const env = { BOWLINE_HOME: data, HOME: folder.path, DEEPSEEK_API_KEY: "sk-0123456789abcdef" };
  return {
    root,
    data,
    mark: join(folder.path, "mark"),
    settings: (settings: object) => writeFile(join(data, "bowline.json"), JSON.stringify(settings)),
    project: (servers: object) =>
      writeFile(join(root, ".mcp.json"), JSON.stringify({ mcpServers: servers })),
    command: (args: readonly string[]) => bowline(args, { cwd: root, env }),
    run: (baseUrl: string, args: readonly string[], more: Record<string, string> = {}) =>
      bowline(["run", "--base-url", baseUrl, "--model", "m", ...args], {
        cwd: root,
        env: { ...env, ...more },
      }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

type Request = { readonly body: string };
const bodies = ({ requests }: { readonly requests: readonly Request[] }): string[] =>
  requests.map(({ body }) => body);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a server of .mcp.json", () => {
  it("has no effect without trust, takes effect with it, and asks again after a change", async () => {
    await using here = await place();
    await using model = await loopback(...Array.from({ length: 4 }, () => chatText("Done.")));
    await here.project({ notes: server({ mark: here.mark }) });
    const untrusted = await here.run(model.baseUrl, ["hi"]);
    assert.equal(untrusted.stdout, "Done.\n", untrusted.stderr);
    assert.match(untrusted.stderr, /Not in effect: servers\. /);
    await assert.rejects(readFile(here.mark), { code: "ENOENT" });
    assert.doesNotMatch(bodies(model)[0] ?? "", /notes__note/);

    const trusted = await here.run(model.baseUrl, ["--trust", "hi"]);
    assert.match(trusted.stderr, /MCP server "notes" is connected: 2 tools\./);
    assert.match(bodies(model)[1] ?? "", /notes__note/);
    const [pid = 0] = (await readFile(here.mark, "utf8")).split("\n").map(Number);
    assert.ok(pid > 1 && !isRunning(pid), "the server has ended with the command");

    await here.project({ notes: server({ mark: `${here.mark}2` }) });
    const changed = await here.run(model.baseUrl, ["hi"]);
    assert.match(changed.stderr, /changed since you trusted it \(\.mcp\.json has changed\)/);
    await assert.rejects(readFile(`${here.mark}2`), { code: "ENOENT" });
  });

  it("gets no secret of the user, and cannot take the name of the user's own server", async () => {
    await using here = await place();
    await using model = await loopback(chatText("Done."));
    await here.settings({ mcpServers: { mine: server({ mark: here.mark }) } });
    await here.project({
      greedy: { ...server({ mark: `${here.mark}2` }), env: { K: "${DEEPSEEK_API_KEY:-none}" } },
      mine: server({ mark: `${here.mark}3` }),
      a__b: server({ mark: `${here.mark}3` }),
      broken: { command: "x", url: "y" },
    });
    const { stderr } = await here.run(model.baseUrl, ["--trust", "hi"]);
    assert.match(stderr, /"greedy" FAILED.*asks for DEEPSEEK_API_KEY, which looks like a secret/);
    assert.match(stderr, /the server "mine" is not used: your own settings have/);
    assert.match(stderr, /the server "a__b" is not used: a server's name/);
    assert.match(stderr, /"broken" FAILED.*needs either a command or a url/);
    assert.match(stderr, /"mine" is connected/);
    for (const other of ["2", "3"])
      await assert.rejects(readFile(`${here.mark}${other}`), { code: "ENOENT" });
  });
});

describe("a call of a server's tool", () => {
  it("is denied without a terminal whatever the server says of it, and runs by a rule", async () => {
    await using here = await place();
    const call = calls("notes__note", { text: "moored" });
    await using model = await loopback(call, chatText("A."), call, chatText("B."));
    await here.settings({ mcpServers: { notes: server() } });
    const denied = await here.run(model.baseUrl, ["note it"]);
    assert.equal(denied.stdout, "A.\n", denied.stderr);
    assert.match(bodies(model)[1] ?? "", /there is no terminal to ask on/);
    await here.settings({
      mcpServers: { notes: server() },
      permissions: { allow: ["notes__*"] },
    });
    const allowed = await here.run(model.baseUrl, ["note it"]);
    assert.equal(allowed.stdout, "B.\n", allowed.stderr);
    assert.match(bodies(model)[3] ?? "", /Noted: moored/);
  });

  it("runs in the working directory with the safe variables and its own alone", async () => {
    await using here = await place();
    const call = calls("notes__show_environment", {});
    await using model = await loopback(call, chatText("A."));
    const env = { OWN: "${DEEPSEEK_API_KEY}" };
    await here.settings({ mcpServers: { notes: { ...server(), env } } });
    const ended = await here.run(model.baseUrl, ["-y", "show"], { SOMETHING: "else" });
    assert.equal(ended.stdout, "A.\n", ended.stderr);
    const body = bodies(model)[1] ?? "";
    assert.ok(body.includes(here.root), body);
    assert.doesNotMatch(body, /SOMETHING|DEEPSEEK_API_KEY|BOWLINE_HOME/);
    assert.match(body, /OWN/);
  });
});

describe("a server that is slow or fails", () => {
  it("is started again when it dies, and the model reads that its call may have taken effect", async () => {
    await using here = await place();
    const call = calls("notes__note", { text: "moored" });
    await using model = await loopback(call, chatText("A."));
    await here.settings({ mcpServers: { notes: server({ die: true }) } });
    const { stdout, stderr } = await here.run(model.baseUrl, ["-y", "note it"]);
    assert.equal(stdout, "A.\n", stderr);
    assert.match(stderr, /MCP server "notes" ended and is started again/);
    assert.match(bodies(model)[1] ?? "", /may have|unknown whether/i);
  });

  it("is waited for with a line, and its failure is an event of the log", async () => {
    await using here = await place();
    await using model = await loopback(chatText("Done."));
    await here.settings({
      mcpServers: {
        slow: server({ waitMs: 2_500, noise: true }),
        gone: { command: "/nonexistent/x" },
      },
    });
    const { stdout, stderr } = await here.run(model.baseUrl, ["--json", "hi"]);
    assert.match(stderr, /waiting for MCP servers: slow/);
    assert.doesNotMatch(stderr, /NOISE/);
    const news = stdout
      .split("\n")
      .filter((line) => line.includes('"mcp_server"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      news.map(({ server: name, status, tools }) => [name, status, tools]),
      [
        ["gone", "failed", undefined],
        ["slow", "ready", 2],
      ],
    );
    assert.match(bodies(model)[0] ?? "", /slow__note/);
  });

  it("does not keep the run from its time limit", async () => {
    await using here = await place();
    await using model = await loopback(chatText("Done."));
    await here.settings({ mcpServers: { stuck: server({ waitMs: 600_000 }) } });
    const { ms, stderr } = await here.run(model.baseUrl, ["--timeout", "3", "hi"]);
    assert.ok(ms < 20_000, `${ms} ms`);
    assert.match(stderr, /the run begins without the tools of stuck/);
  });
});

describe("bowline mcp list", () => {
  it("shows each server, its file and its tools, and exits with 1 if one failed", async () => {
    await using here = await place();
    await here.settings({
      mcpServers: { notes: server({ noise: true }), off: { ...server(), disabled: true } },
    });
    const good = await here.command(["mcp", "list"]);
    assert.equal(good.code, 0, good.stderr);
    assert.match(good.stdout, /^notes {2}ready {2}.*bowline\.json\n {2}notes__note\n/);
    assert.match(good.stdout, /^off {2}off {2}/m);
    assert.doesNotMatch(good.stderr, /NOISE/);
    await here.settings({ mcpServers: { gone: { command: "/nonexistent/x" } } });
    const bad = await here.command(["mcp", "--json"]);
    assert.equal(bad.code, 1);
    const { name, status, message } = JSON.parse(bad.stdout) as Record<string, string>;
    assert.deepEqual([name, status], ["gone", "failed"]);
    assert.match(message ?? "", /ENOENT|not found/);
    assert.equal((await here.command(["mcp", "add"])).code, 2);
  });

  it("is explained by bowline permissions why, by the tool's name", async () => {
    await using here = await place();
    await here.settings({ permissions: { deny: ["notes__*"] } });
    const { code, stdout } = await here.command(["permissions", "why", "notes__note"]);
    assert.equal(code, 4);
    assert.match(stdout, /^deny: notes__\* \(.*bowline\.json\) denies it\./);
  });
});

describe("the choice of tools", () => {
  it("takes the names of servers' tools, and refuses those of servers that do not exist", async () => {
    await using here = await place();
    await using model = await loopback(chatText("Done."));
    await here.settings({ mcpServers: { notes: server() } });
    await here.run(model.baseUrl, ["--tools", "read,notes__note", "hi"]);
    const { tools = [] } = JSON.parse(bodies(model)[0] ?? "{}") as {
      tools?: { function: { name: string } }[];
    };
    assert.deepEqual(
      tools.map((tool) => tool.function.name),
      ["read", "notes__note"],
    );
    const refused = await here.run(model.baseUrl, ["--tools", "other__note", "hi"]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /There is no tool "other__note".* Known ones: .*notes__\*/);
  });
});
