/** A server that misbehaves: nothing hangs, nothing grows without bound, and each call is answered. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { call, connect, entry } from "./support.ts";
import { until } from "../../../test/support/until.ts";

describe("a server that dies in the middle of a call", () => {
  it("fails the call as unknown, is restarted, and never gets the call again", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    const { mcp, events } = connected;
    const result = await call(mcp, "s__die");
    assert.ok(result.isError);
    assert.match(
      result.text,
      /exit code 7\. Its last words: out of memory\. It is unknown whether/,
    );
    // A call that comes while the server restarts waits for it.
    assert.equal((await call(mcp, "s__echo", { text: "again" })).text, "again");
    const lost = events.filter(({ type }) => type === "server_lost");
    assert.equal(lost.length, 1);
    assert.match(JSON.stringify(lost), /exit code 7\. Its last words: out of memory/);
    assert.equal(events.filter(({ type }) => type === "server_ready").length, 2);
    assert.equal(mcp.servers[0]?.status, "ready");
  });

  it("is given up after the restarts that it has, and its tools disappear", async () => {
    await using connected = await connect({
      servers: { s: entry(), t: entry() },
      limits: { restarts: 2 },
    });
    const { mcp, events } = connected;
    for (let left = 3; left > 0; left--) assert.ok((await call(mcp, "s__die")).isError);
    await until(() => mcp.servers[0]?.status === "failed");
    assert.deepEqual(mcp.servers[0]?.tools, []);
    assert.ok(mcp.tools.every(({ name }) => name.startsWith("t__")));
    const delays = events.flatMap((event) =>
      event.type === "server_lost" ? [event.restartInMs] : [],
    );
    assert.deepEqual(delays, [20, 40]);
    await mcp.restart("s");
    assert.equal(mcp.servers[0]?.status, "ready");
  });
});

describe("a server that never answers", () => {
  it("fails the call when its time is over, and is told so", async () => {
    await using connected = await connect({ servers: { s: entry() }, limits: { callMs: 300 } });
    const { mcp } = connected;
    const result = await call(mcp, "s__never");
    assert.ok(result.isError);
    assert.match(result.text, /took longer than 300 ms\. It is unknown whether it took effect/);
    assert.equal((await call(mcp, "s__cancelled")).text, "1");
  });

  it("fails the call when the agent is aborted, and is told so", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    const { mcp } = connected;
    const tool = mcp.tools.find(({ name }) => name === "s__never");
    const controller = new AbortController();
    const running = tool?.execute("c", {}, controller.signal);
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(
      async () => running,
      /: The call was cancelled: This operation was aborted/,
    );
    assert.equal((await call(mcp, "s__cancelled")).text, "1");
  });

  it("fails the call when the answer has another's id", async () => {
    await using connected = await connect({ servers: { s: entry() }, limits: { callMs: 300 } });
    const result = await call(connected.mcp, "s__wrong-id");
    assert.ok(result.isError);
    assert.match(result.text, /took longer/);
    assert.match(JSON.stringify(connected.events), /unknown message ID/);
  });

  it("is killed when it is stuck and does not end", async () => {
    const connected = await connect({
      servers: { s: entry({ start: "ignores-end" }) },
      limits: { callMs: 200, closeMs: 100 },
    });
    assert.ok((await call(connected.mcp, "s__stuck")).isError);
    await connected.mcp.close();
    assert.equal(connected.mcp.servers[0]?.status, "closed");
  });
});

describe("a server that does not start", () => {
  it("shows no part of a secret at the cut of its last words", async () => {
    const env = { API_TOKEN: "tok-1234567890" };
    await using connected = await connect({
      servers: { s: { ...entry({ start: "fails-long" }), env } },
    });
    assert.match(connected.mcp.servers[0]?.error?.message ?? "", /Its last words: .*y{900}/);
    assert.doesNotMatch(JSON.stringify(connected.mcp.servers), /67890/);
  });

  it("is reported with its last words and leaves the others alone", async () => {
    await using connected = await connect({
      servers: {
        fails: { ...entry({ start: "fails" }), env: { API_TOKEN: "tok-1234567890" } },
        missing: { command: "/nowhere/server" },
        spaced: { command: "npx server" },
        moved: { ...entry(), cwd: "/nowhere" },
        noisy: entry({ start: "silent", noise: true }),
        silent: entry({ start: "silent" }),
        unlisted: entry({ list: "never" }),
        endless: entry({ list: "endless" }),
        good: entry(),
      },
      limits: { startMs: 4_000 },
    });
    const { mcp } = connected;
    const said = Object.fromEntries(mcp.servers.map((server) => [server.name, server]));
    assert.match(
      said.fails?.error?.message ?? "",
      /exit code 3\. Its last words: no such database, token \[redacted\]/,
    );
    assert.doesNotMatch(JSON.stringify(mcp.servers), /tok-1234/);
    assert.match(said.missing?.error?.message ?? "", /its command .* was not found \(ENOENT\)\.?$/);
    assert.match(said.spaced?.error?.message ?? "", /was not found .* put the rest in args/);
    assert.match(said.moved?.error?.message ?? "", /its cwd "\/nowhere" is not a directory/);
    assert.match(said.noisy?.error?.message ?? "", /within 4000 ms\. It wrote .*: Welcome!$/);
    assert.equal(said.silent?.error?.code, "timeout");
    assert.equal(said.unlisted?.error?.code, "timeout");
    assert.match(said.endless?.error?.message ?? "", /64/);
    assert.equal(said.good?.status, "ready");
    assert.equal(said.good?.instructions?.startsWith("x".repeat(4_000)), true);
    assert.ok((said.good?.instructions?.length ?? 0) < 4_100);
    assert.equal((await call(mcp, "good__echo", { text: "here" })).text, "here");
  });

  it("rejects and closes all where the caller wants that", async () => {
    await assert.rejects(
      connect({
        servers: { good: entry(), bad: entry({ start: "fails" }) },
        onServerError: "throw",
      }),
      /The server "bad" did not start: .*exit code 3/,
    );
  });

  it("rejects when the caller's signal fires", async () => {
    const signal = AbortSignal.timeout(200);
    await assert.rejects(
      connect({ servers: { s: entry({ start: "silent" }) }, signal }),
      /aborted/,
    );
  });

  it("is started again when it ends at a question that it does not know", async () => {
    await using connected = await connect({ servers: { s: entry({ start: "strict" }) } });
    assert.equal(connected.mcp.servers[0]?.status, "ready");
  });
});

describe("a server that repeats a secret", () => {
  it("has it taken out of an error, with all that the error holds", async () => {
    const env = { MY_TOKEN: "supersecret-token-42" };
    await using connected = await connect({ servers: { s: { ...entry(), env } } });
    await assert.rejects(connected.mcp.readResource("s", "file:///a"), (error) => {
      assert.match(inspect(error), /no rights for \[redacted\]/);
      assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /supersecret/);
      return true;
    });
  });
});

describe("a server that says too much", () => {
  it("has its result cut, with a note", async () => {
    await using connected = await connect({
      servers: { s: entry() },
      limits: { resultLength: 1_000 },
    });
    const { text } = await call(connected.mcp, "s__huge", { length: 1_000_000 });
    assert.match(text, /^h{1000}… \[cut: 999000 more characters\]$/);
  });

  it("is ended when a message is longer than the limit, and the call fails", async () => {
    await using connected = await connect({
      servers: { s: entry() },
      limits: { messageBytes: 1_000_000 },
    });
    const result = await call(connected.mcp, "s__too-long");
    assert.ok(result.isError);
    assert.match(result.text, /a message is longer than 1000000 bytes\. It is unknown whether/);
    await until(() => connected.mcp.servers[0]?.status === "ready");
    assert.match(JSON.stringify(connected.events), /longer than 1000000 bytes/);
  });

  it("has only the last of its stderr kept", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    assert.equal((await call(connected.mcp, "s__stderr")).text, "said");
    const { stderr = "" } = connected.mcp.servers[0] ?? {};
    assert.equal(stderr.length, 7 * 1024);
    assert.match(stderr, /eEND\n$/);
  });

  it("is still understood among noise and notifications", async () => {
    await using connected = await connect({ servers: { s: entry({ noise: true }) } });
    assert.equal((await call(connected.mcp, "s__noise")).text, "quiet");
    assert.equal((await call(connected.mcp, "s__flood")).text, "dry");
    assert.equal((await call(connected.mcp, "s__echo", { text: "ok" })).text, "ok");
    const warnings = connected.events.filter(({ type }) => type === "server_warning");
    assert.equal(warnings.length, 20);
    assert.match(JSON.stringify(warnings), /not a message: Welcome!/);
  });

  it("is asked for its tools a few times a second, however often it says that they changed", async () => {
    await using connected = await connect({ servers: { s: entry({ list: "restless" }) } });
    const lists = async (): Promise<number> => Number((await call(connected.mcp, "s__lists")).text);
    let before = 0;
    while (before < 2) before = await lists();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const more = (await lists()) - before;
    assert.ok(more < 20, String(more));
  });

  it("reports progress no more than ten times a second, in bounded texts", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    const tool = connected.mcp.tools.find(({ name }) => name === "s__progress");
    const updates: string[] = [];
    await tool?.execute("c", {}, undefined, ({ content = [] }) => {
      const [part] = content;
      if (part?.type === "text") updates.push(part.text);
    });
    assert.match(updates[0] ?? "", /^1 of 500: m{500}… \[cut: 1500 more characters\]$/);
    assert.ok(updates.length < 20, String(updates.length));
  });
});
