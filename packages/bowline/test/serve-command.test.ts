/**
 * `bowline serve` as a person starts and stops it: a separate process, its output, its exit codes.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { bowline, temporary } from "./command.ts";
import { TestClient } from "./gateway/gateway.ts";
import { started } from "./serving.ts";

const isGone = async (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    () => false,
    () => true,
  );

describe("bowline serve", () => {
  it("starts on a free port, creates the workspace, prints its address, and answers", async () => {
    await using home = await temporary();
    await using server = await started(home.path);
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const workspace = join(home.path, "data", "workspace");
    assert.ok(
      server.said().includes(`Workspace: ${workspace} (made AGENTS.md, SOUL.md, TOOLS.md)\n`),
      server.said(),
    );
    assert.deepEqual((await readdir(workspace)).toSorted(), ["AGENTS.md", "SOUL.md", "TOOLS.md"]);
    assert.deepEqual(await readdir(home.path), ["data"], "nothing is made in the current folder");
    const token = (await readFile(join(home.path, "data", "gateway", "token"), "utf8")).trim();
    assert.ok(server.said().includes(`Open ${server.url}/#token=${token}\n`), server.said());
    await server.until(
      /^assistant: .*practice model.*\nFor a real model set its key, for example in \.env, .* AGENTS\.md\.\n/m,
    );
    const health = await fetch(`${server.url}/health`);
    const { status, version } = (await health.json()) as { status: string; version: string };
    assert.deepEqual([health.status, status], [200, "ok"]);
    assert.match(version, /^\d+\.\d+\.\d+/);
  });

  it("never prints a token that it was given", async () => {
    await using home = await temporary();
    await using server = await started(home.path, undefined, {
      BOWLINE_TOKEN: "a-secret-of-mine",
      BOWLINE_READ_TOKEN: "another-secret",
    });
    assert.match(server.said(), /^Token: BOWLINE_TOKEN\. Open http:\/\/127\.0\.0\.1:\d+\/$/m);
    const socket = new WebSocket(server.url.replace("http", "ws"));
    await once(socket, "open");
    socket.send('{"type":"auth","token":"a-secret-of-mine"}');
    const [data] = (await once(socket, "message")) as [Buffer];
    assert.equal((JSON.parse(data.toString()) as { ok: boolean }).ok, true);
    socket.terminate();
    server.child.kill("SIGTERM");
    await server.end();
    assert.ok(!/a-secret-of-mine|another-secret/.test(server.said()), server.said());
    assert.deepEqual(
      await readdir(join(home.path, "data", "gateway")),
      ["running"],
      "there is no file of it",
    );
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`sends its clients a shutdown event at ${signal} and exits with 0`, async () => {
      await using home = await temporary();
      await using server = await started(home.path, undefined, { BOWLINE_TOKEN: "mysecrettoken" });
      const socket = new WebSocket(server.url.replace("http", "ws"));
      const frames: string[] = [];
      socket.on("message", (frame: Buffer) => frames.push(frame.toString()));
      await once(socket, "open");
      socket.send('{"type":"auth","token":"mysecrettoken"}');
      await once(socket, "message");
      const closed = once(socket, "close") as Promise<[number]>;
      server.child.kill(signal);
      assert.equal((await closed)[0], 1001);
      assert.match(frames.at(-1) ?? "", /"event":"shutdown"/);
      assert.deepEqual(await server.end(), [0, null]);
      assert.match(server.said(), /Stopping\. Unfinished runs continue at the next start\.\n$/);
      assert.equal(await isGone(server.url), true);
    });
  }

  // Requirements: J2, J34, J35
  it("takes the port from the environment and other settings from .env, known names only", async () => {
    await using home = await temporary();
    await writeFile(
      join(home.path, ".env"),
      `BOWLINE_PORT=0\nBOWLINE_TOKEN=from-the-file\nBOWLINE_WORKSPACE=${join(home.path, "desk")}\nNODE_OPTIONS=--no-such\n`,
    );
    await using server = await started(home.path, ["--init"]);
    assert.match(server.said(), /^Token: BOWLINE_TOKEN\./m);
    assert.ok(!server.said().includes("from-the-file"));
    assert.equal((await readdir(join(home.path, "desk"))).length, 3);
    const answer = await fetch(`${server.url}/api/runs/x/events`, {
      headers: { authorization: "Bearer from-the-file" },
    });
    assert.equal(answer.status, 404);
  });

  it("writes nothing into a folder that is named, and serves it by one agent with its AGENTS.md", async () => {
    await using home = await temporary();
    const folder = join(home.path, "project");
    await mkdir(folder);
    const text = "# Project\n\n## Models\n\nModel: src/user.ts\n\nSay PINEAPPLE.\n";
    await writeFile(join(folder, "AGENTS.md"), text);
    const bodies: string[] = [];
    const model = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        bodies.push(body);
        response.writeHead(200, { "content-type": "text/event-stream" });
        const choice = { index: 0, delta: { content: "Hello." }, finish_reason: "stop" };
        response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
      });
    });
    await once(model.listen(0, "127.0.0.1"), "listening");
    const { port } = model.address() as AddressInfo;
    await using server = await started(home.path, ["--port", "0", "-w", folder], {
      BOWLINE_TOKEN: "mysecrettoken",
      BOWLINE_MODEL: "deepseek/m",
      DEEPSEEK_API_KEY: "sk-0123456789",
      DEEPSEEK_BASE_URL: `http://127.0.0.1:${port}/v1`,
    });
    assert.deepEqual(await readdir(folder), ["AGENTS.md"]);
    assert.match(server.said(), /^Workspace: .*project$/m);
    const client = await TestClient.enter(server.url.replace("http", "ws"), "mysecrettoken", "all");
    const { agents } = await client.call("agents.list", {});
    assert.deepEqual(
      agents.map(({ id }) => id),
      ["assistant"],
    );
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
    await client.event("chat.final", runId);
    client.socket.terminate();
    model.closeAllConnections();
    model.close();
    assert.match(bodies[0] ?? "", /Say PINEAPPLE/);
    assert.match(bodies[0] ?? "", /You are Bowline/);
    assert.deepEqual(await readdir(folder), ["AGENTS.md"]);
  });

  it("says for each agent why its model cannot answer, and uses no other model", async () => {
    await using home = await temporary();
    await mkdir(join(home.path, "data", "workspace"), { recursive: true });
    const agents =
      "# Agents\n\n## a\n\nModel: openai/gpt-x\nDescription: A.\n\n## b\n\nModel: nobody/y\nDescription: B.\n";
    await writeFile(join(home.path, "data", "workspace", "AGENTS.md"), agents);
    await using server = await started(home.path, ["--port", "0"], {
      ANTHROPIC_API_KEY: "sk-ant-0123456789",
      BOWLINE_DISCOVERY: "",
    });
    await server.until(/^b: .*\n/m);
    assert.match(
      server.said(),
      /^a: openai\/gpt-x has no key \(OPENAI_API_KEY is not set\)\. Set it, or pass another model with --fallback\.$/m,
    );
    assert.match(server.said(), /^b: nobody\/y names an unknown provider/m);
    assert.doesNotMatch(server.said(), /ANTHROPIC_API_KEY is set|practice model|sk-ant-0123456789/);
  });

  it("uses another model in a workspace that nobody has edited, and names it", async () => {
    await using home = await temporary();
    await using server = await started(home.path, ["--port", "0"], {
      OPENAI_API_KEY: "sk-0123456789",
      BOWLINE_DISCOVERY: "",
    });
    await server.until(/^assistant: .*\n/m);
    assert.match(
      server.said(),
      /^assistant: anthropic\/.* has no key \(ANTHROPIC_API_KEY is not set\)\. openai\/.* \(OPENAI_API_KEY is set\) answers instead\.$/m,
    );
  });
});

describe("bowline serve --json", () => {
  it("prints one line when ready, with its address, the source of its token, and the notices for a person", async () => {
    await using home = await temporary();
    await using server = await started(home.path, ["--port", "0", "--json"]);
    const ready = JSON.parse(server.stdout()) as Record<string, unknown>;
    const file = join(home.path, "data", "gateway", "token");
    const port = Number(new URL(server.url).port);
    const { version, notices, ...rest } = ready;
    assert.deepEqual(rest, {
      type: "ready",
      url: `http://127.0.0.1:${port}`,
      host: "127.0.0.1",
      port,
      isExposed: false,
      workspace: join(home.path, "data", "workspace"),
      made: ["AGENTS.md", "SOUL.md", "TOOLS.md"],
      pid: server.child.pid,
      token: { file },
    });
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    const [{ agent, message } = { agent: "", message: "" }] = notices as {
      agent: string;
      message: string;
    }[];
    assert.equal(agent, "assistant");
    assert.match(
      message,
      /has no key \(ANTHROPIC_API_KEY is not set\)\. The practice model answers/,
    );
    const token = (await readFile(file, "utf8")).trim();
    assert.ok(!server.said().includes(token), "the token is in no line");
    const headers = { authorization: `Bearer ${token}` };
    assert.equal(
      (await fetch(`${server.url}/api/runs/x/events`, { headers })).status,
      404,
      "it answers to its token",
    );
    server.child.kill("SIGTERM");
    assert.deepEqual(await server.end(), [0, null]);
    assert.equal(server.stdout().split("\n").length, 2, "nothing else on standard output");
    assert.match(server.said(), /\nStopping\. Unfinished runs continue at the next start\.\n$/);
  });

  it("names the variable that holds the token, and never its value", async () => {
    await using home = await temporary();
    const env = { BOWLINE_TOKEN: "a-secret-of-mine", BOWLINE_READ_TOKEN: "another-secret" };
    await using server = await started(
      home.path,
      ["--port", "0", "--json", "--host", "0.0.0.0", "--expose"],
      env,
    );
    const ready = JSON.parse(server.stdout()) as Record<string, unknown>;
    assert.deepEqual([ready.token, ready.isExposed], [{ variable: "BOWLINE_TOKEN" }, true]);
    assert.ok(!/a-secret-of-mine|another-secret/.test(server.said()));
  });

  it("trusts the headers of the proxy given by --trust-proxy", async () => {
    await using home = await temporary();
    const env = { BOWLINE_TOKEN: "a-secret-of-mine" };
    const trust = ["--trust-proxy", "10.0.0.0/8", "--trust-proxy", "127.0.0.1"];
    await using server = await started(home.path, ["--port", "0", "--json", ...trust], env);
    const headers = { authorization: "Bearer a-secret-of-mine", "x-forwarded-prefix": "/agents" };
    const body = JSON.stringify({ sessionKey: "s", message: "Hi" });
    const begun = await fetch(`${server.url}/api/chat`, { method: "POST", headers, body });
    assert.match(((await begun.json()) as { events: string }).events, /^\/agents\/api\/runs\//);
    const refused = await bowline(["serve", "--port", "0", "--trust-proxy", "proxy.example"]);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^bowline: A proxy is trusted by its address, .* not by "proxy\.example"\.\n$/,
    );
  });

  it("prints no line when it cannot start, and the reason on standard error", async () => {
    const ended = await bowline(["serve", "--json", "--host", "0.0.0.0", "--port", "0"]);
    assert.deepEqual([ended.code, ended.stdout], [1, ""]);
    assert.match(ended.stderr, /^bowline: 0\.0\.0\.0 can be reached by other machines: .*\n$/);
  });
});

describe("bowline serve", () => {
  const refusals: readonly [string, readonly string[], number, RegExp, Record<string, string>?][] =
    [
      [
        "an invalid port in the environment",
        [],
        1,
        /^bowline: BOWLINE_PORT takes a number up to 65535, not "70000"\.\n$/,
        { BOWLINE_PORT: "70000" },
      ],
      [
        "a port that looks like an option",
        ["--port", "-1"],
        2,
        /^bowline: Option '--port' argument is ambiguous\. See .*\n$/,
      ],
      [
        "an unknown host name",
        ["--host", "no-such-host.invalid", "--expose", "--port", "0"],
        1,
        /^bowline: no-such-host\.invalid is not an address of this machine \((?:ENOTFOUND|EAI_AGAIN)\)\. Pass one with --host\.\n$/,
      ],
      [
        "a public address without --expose",
        ["--host", "0.0.0.0", "--port", "0"],
        1,
        /^bowline: 0\.0\.0\.0 can be reached by other machines: .*\n$/,
      ],
      [
        "an address that this machine does not have",
        ["--host", "192.0.2.1", "--expose", "--port", "0"],
        1,
        /^bowline: .*EADDRNOTAVAIL.*\n$/,
      ],
      [
        "an invalid port",
        ["--port", "70000"],
        2,
        /^bowline: --port takes a number up to 65535, not "70000"\..*\n$/,
      ],
      ["an unknown option", ["--nothing"], 2, /^bowline: .*--nothing.*\n$/],
      ["an extra argument", ["now"], 2, /^bowline: bowline serve takes no "now"\..*\n$/],
    ];
  for (const [what, args, code, line, env = {}] of refusals) {
    it(`says on one line why it cannot start: ${what}`, async () => {
      await using home = await temporary();
      const ended = await bowline(["serve", ...args], {
        cwd: home.path,
        env: { BOWLINE_HOME: join(home.path, "data"), ...env },
      });
      assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
      assert.match(ended.stderr, line);
    });
  }

  it("says on one line that the port is taken, and leaves the other process running", async () => {
    await using home = await temporary();
    const other = createServer((_request, response) => response.end("other"));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const ended = await bowline(["serve", "--port", String(port)], {
      cwd: home.path,
      env: { BOWLINE_HOME: join(home.path, "data") },
    });
    assert.deepEqual([ended.code, ended.stdout], [1, ""]);
    const why = `bowline: Port ${port} is already in use, perhaps by another bowline serve. Stop it or pass --port.\n`;
    assert.equal(ended.stderr, why);
    assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), "other");
    other.close();
  });

  it("documents its exit codes in its help", async () => {
    const { code, stdout } = await bowline(["serve", "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /Exit codes: 0 .*1 .*2 .*/s);
  });
});
