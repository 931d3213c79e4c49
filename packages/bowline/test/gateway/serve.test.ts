import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { BowlineError } from "@bowline/core";
import { parseAgents } from "../../src/serve/agents-file.ts";
import { withEnvFile } from "../../src/serve/env-file.ts";
import { serve, type Served, type ServeOptions } from "../../src/serve/serve.ts";
import { DEFAULT_PORT } from "../../src/gateway/server/server.ts";
import { createTools } from "../../src/tools/index.ts";
import { createWorkspaceFiles } from "../../src/serve/workspace-files.ts";
import { failing, loopback, streamed } from "../../../../test/support/loopback.ts";
import { temporary } from "../command.ts";
import { TestClient } from "./gateway.ts";

const lines: string[] = [];

async function started(
  home: string,
  options: ServeOptions = {},
): Promise<Served & AsyncDisposable> {
  lines.length = 0;
  const env = { BOWLINE_HOME: home, BOWLINE_DISCOVERY: "off", ...options.env };
  const served = await serve({
    port: 0,
    envFile: join(home, ".env"),
    print: (line) => lines.push(line),
    ...options,
    env,
  });
  return Object.assign(served, { [Symbol.asyncDispose]: () => served.close() });
}

const enter = ({ url, token }: Served): Promise<TestClient> =>
  TestClient.enter(url.replace("http", "ws"), token, "all");

describe("the workspace", () => {
  // Requirements: J2, J26, J27, J28
  it("gets its three files on the first start, and they are not overwritten later", async () => {
    await using folder = await temporary();
    const path = join(folder.path, "workspace");
    assert.deepEqual(await createWorkspaceFiles(path), ["AGENTS.md", "SOUL.md", "TOOLS.md"]);
    const [agents = "", soul = "", tools = ""] = await Promise.all(
      ["AGENTS.md", "SOUL.md", "TOOLS.md"].map((name) => readFile(join(path, name), "utf8")),
    );
    assert.match(
      agents,
      /^# Agents\n\n## assistant\n\nModel: anthropic\/claude-opus-4-6\nDescription: .*helpful, accurate.*concise.*general-purpose/,
    );
    assert.match(soul, /^# Core Directives\n/);
    for (const word of [
      /own machine/,
      /helpful, honest/i,
      /not sure/,
      /not make up/,
      /privacy/,
      /cloud/,
      /explain/,
    ])
      assert.match(soul, word);
    // The text must not promise privacy, because what the assistant reads and says goes to
    // the model's server.
    assert.doesNotMatch(soul, /everything stays|nothing is logged/);
    assert.match(tools, /^# Available Tools\n\n## bash\n/);
    assert.deepEqual(
      [...tools.matchAll(/^## (.*)/gm)].map(([, name = ""]) => name).toSorted(),
      createTools({ root: path })
        .map(({ name }) => name)
        .toSorted(),
    );
    for (const word of [
      /shell command on the user's machine/,
      /approves every command/,
      /files/,
      /scripts/,
      /system/,
      /least permissions/,
    ])
      assert.match(tools, word);
    await writeFile(join(path, "SOUL.md"), "mine");
    assert.deepEqual(await createWorkspaceFiles(path), []);
    assert.equal(await readFile(join(path, "SOUL.md"), "utf8"), "mine");
  });

  // Requirements: J31
  it("lists agents by headings of the second level, and ignores other text", () => {
    const text =
      "# Agents\nModel: not/this\n## a (1+1)\r\nModel: x/y/z  \r\nDescription: Does.\n### Notes\nModel: n/n\n## empty\ntext\n## b\n- Model: v/w\n";
    assert.deepEqual(parseAgents(text), [
      { id: "a (1+1)", model: "x/y/z", description: "Does." },
      { id: "b", model: "v/w", description: "" },
    ]);
    assert.deepEqual(parseAgents(""), []);
  });

  // Requirements: J26
  it("may write models and labels in bold or as code", () => {
    const modelOf = (line: string): string | undefined => parseAgents(`## a\n${line}`)[0]?.model;
    for (const line of [
      "**Model:** `v/some_model`",
      "**Model**: v/some_model",
      "- __Model:__ **`v/some_model`**",
      "+ Model:`v/some_model`",
      "*model*: *v/some_model*",
    ])
      assert.equal(modelOf(line), "v/some_model", line);
    for (const line of ["Model: ``", "**Model:** **", "The **Model:** v/m"])
      assert.equal(modelOf(line), undefined, line);
    const text = "## a\n**Model:** v/m\n**Description:** Uses *few* `words`.";
    assert.equal(parseAgents(text)[0]?.description, "Uses *few* `words`.");
  });
});

describe("the settings", () => {
  // Requirements: J2, J34
  it("are also read from .env if their names are known, and the environment takes precedence", async () => {
    await using folder = await temporary();
    const file = join(folder.path, ".env");
    await writeFile(
      file,
      'ANTHROPIC_API_KEY="sk-from-file"\nOPENAI_API_KEY=file\nBOWLINE_TOKEN=t\nNODE_OPTIONS=--bad\nPATH=/evil\n# x\n',
    );
    const { env } = await withEnvFile({ OPENAI_API_KEY: "mine", PATH: "/bin" }, file);
    assert.deepEqual(env, {
      ANTHROPIC_API_KEY: "sk-from-file",
      OPENAI_API_KEY: "mine",
      BOWLINE_TOKEN: "t",
      PATH: "/bin",
    });
    assert.deepEqual((await withEnvFile({}, join(folder.path, "none"))).env, {});
  });
});

describe("serve", () => {
  // Requirements: J35, J36
  it("creates its workspace in the data folder and a private token, and prints its address", async () => {
    assert.equal(DEFAULT_PORT, 18_789);
    await using home = await temporary();
    const first = await started(home.path);
    assert.deepEqual((await readdir(join(home.path, "workspace"))).toSorted(), [
      "AGENTS.md",
      "SOUL.md",
      "TOOLS.md",
    ]);
    assert.match(first.token, /^[\w-]{32}$/);
    assert.equal((await stat(join(home.path, "gateway", "token"))).mode & 0o777, 0o600);
    assert.ok(lines.includes(`Open ${first.url}/#token=${first.token}`), lines.join("\n"));
    assert.match(lines.join("\n"), /practice model answers/);
    const client = await enter(first);
    assert.match(client.welcome.notice ?? "", /practice model/);
    client.socket.terminate();
    await first.close();
    const second = await started(home.path);
    assert.equal(second.token, first.token);
    await second.close();
    await using third = await started(home.path, {
      env: { BOWLINE_TOKEN: "mysecrettoken", BOWLINE_HOME: home.path },
    });
    assert.equal(third.token, "mysecrettoken");
    assert.equal(lines.join("\n").includes("mysecrettoken"), false);
  });

  it("refuses a data folder that another server uses", async () => {
    await using home = await temporary();
    const first = await started(home.path);
    const said = new RegExp(
      `^The data folder is already in use by bowline serve, process ${process.pid}\\. .*BOWLINE_HOME`,
    );
    await assert.rejects(
      started(home.path),
      (error: BowlineError) => said.test(error.message) && error.code === "session_locked",
    );
    assert.equal((await fetch(`${first.url}/health`)).status, 200);
    await first.close();
    await using second = await started(home.path);
    assert.equal((await fetch(`${second.url}/health`)).status, 200);
  });

  it("releases the data folder when it cannot start", async () => {
    await using home = await temporary();
    await assert.rejects(started(home.path, { host: "0.0.0.0" }), /other machines.*--expose/);
    await using server = await started(home.path);
    assert.equal((await fetch(`${server.url}/health`)).status, 200);
  });

  it("treats a server on another host as gone, because it cannot check", async () => {
    await using home = await temporary();
    const first = await started(home.path);
    const locks = join(home.path, "gateway", "running", "locks");
    const [claim = ""] = await readdir(locks);
    await first.close();
    await writeFile(join(locks, claim.replace(/@.*$/, "@elsewhere")), "");
    await using second = await started(home.path);
    assert.equal((await fetch(`${second.url}/health`)).status, 200);
  });

  it("refuses invalid settings, and names them", async () => {
    await using home = await temporary();
    const refused = (env: Record<string, string>, options: ServeOptions = {}): Promise<string> =>
      started(home.path, { ...options, env }).then(
        () => assert.fail("it started"),
        ({ message }: Error) => message,
      );
    assert.match(
      await refused({ BOWLINE_FALLBACK: "nonsense" }),
      /^The fallback: .*provider\/model.* not "nonsense"/,
    );
    assert.match(
      await refused({}, { fallback: "acme/x" }),
      /^The fallback: acme\/x names an unknown provider/,
    );
    const same = { BOWLINE_TOKEN: "t", BOWLINE_READ_TOKEN: "t" };
    assert.equal(await refused(same), "BOWLINE_READ_TOKEN must not be the same as BOWLINE_TOKEN.");
    await writeFile(join(home.path, "file"), "");
    const workspace = join(home.path, "file", "in");
    assert.equal(await refused({}, { workspace }), `${workspace} cannot be used (ENOTDIR).`);
  });

  it("serves a workspace without agents by one, and reports a fallback without a key", async () => {
    await using home = await temporary();
    await mkdir(join(home.path, "workspace"));
    await writeFile(join(home.path, "workspace", "AGENTS.md"), "Nobody yet.");
    {
      await using server = await started(home.path);
      const [{ agent, message } = { agent: "", message: "" }] = server.notices;
      assert.equal(agent, "assistant");
      assert.match(message, /The practice model answers/);
    }
    await writeFile(join(home.path, "workspace", "AGENTS.md"), "## a\nModel: openai/m\n");
    await using server = await started(home.path, { fallback: "groq/x" });
    assert.match(
      server.notices[0]?.message ?? "",
      /^openai\/m has no key \(OPENAI_API_KEY is not set\), nor has groq\/x \(GROQ_API_KEY is not set\)\. Set it/,
    );
    const client = await enter(server);
    assert.equal(client.welcome.notice, server.notices[0]?.message);
    assert.equal(client.welcome.model.model, "");
    await assert.rejects(client.call("chat.send", { sessionKey: "s", message: "Hi" }), {
      message: server.notices[0]?.message,
    });
    assert.deepEqual((await client.call("sessions.list", {})).sessions, []);
    client.socket.terminate();
  });

  // Requirements: J41
  it("does a task with tools in the workspace with the practice model, and sends a notice", async () => {
    await using home = await temporary();
    await using server = await started(home.path);
    const client = await enter(server);
    const { runId } = await client.call("chat.send", {
      sessionKey: "s",
      message: "Run `echo hello`.",
    });
    assert.equal((await client.event("chat.notice", runId)).code, "practice_model");
    const asked = await client.event("exec.approval_request", runId);
    assert.deepEqual(
      [asked.command, asked.workingDir],
      ["echo hello", join(home.path, "workspace")],
    );
    await client.call("exec.approve", { approvalId: asked.approvalId });
    await client.event("chat.final", runId);
    assert.match((await client.event("chat.tool_result", runId)).output, /hello/);
    client.socket.terminate();
  });

  it("uses the agent's model when it has a key, and another only when configured", async () => {
    const anthropic = failing(401, {
      type: "error",
      error: { type: "authentication_error", message: "bad key sk-ant-abcdefghijklmnop" },
    });
    await using own = await loopback(anthropic);
    await using other = await loopback(
      streamed(
        { choices: [{ index: 0, delta: { content: "From the other." }, finish_reason: "stop" }] },
        "[DONE]",
      ),
    );
    await using home = await temporary();
    await mkdir(join(home.path, "workspace"));
    await writeFile(join(home.path, ".env"), "ANTHROPIC_API_KEY=sk-ant-abcdefghijklmnop\n");
    const urls = {
      ANTHROPIC_BASE_URL: own.baseUrl,
      OPENROUTER_BASE_URL: other.baseUrl,
      OPENROUTER_API_KEY: "key-of-the-other",
    };
    {
      await using server = await started(home.path, { env: urls });
      const client = await enter(server);
      assert.deepEqual(
        [client.welcome.model.provider, client.welcome.notice],
        ["anthropic", undefined],
      );
      const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
      const { errorKind, message } = await client.event("chat.error", runId);
      assert.equal(errorKind, "auth");
      assert.equal(message.includes("sk-ant-abcdefghijklmnop"), false);
      assert.match(message, /\(The key is from the server's ANTHROPIC_API_KEY\.\)$/);
      client.socket.terminate();
    }
    await writeFile(join(home.path, ".env"), "");
    await using server = await started(home.path, { env: urls, fallback: "openrouter/some/model" });
    const client = await enter(server);
    assert.match(client.welcome.notice ?? "", /fallback openrouter\/some\/model answers/);
    const { runId } = await client.call("chat.send", { sessionKey: "t", message: "Hi" });
    assert.equal((await client.event("chat.notice", runId)).code, "fallback_model");
    await client.event("chat.final", runId);
    assert.equal(client.text(runId), "From the other.");
    client.socket.terminate();
  });
});
