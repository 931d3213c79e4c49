/** Connecting without waiting, and checking an entry without connecting. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectMcp, whyNotServer } from "../src/index.ts";
import { connect, entry } from "./support.ts";
import { until } from "../../../test/support/until.ts";

describe("connecting without waiting", () => {
  it("resolves while the servers start, and offers the tools of each that is ready", async () => {
    const told: number[] = [];
    await using connected = await connect({
      servers: { quick: entry(), stuck: entry({ list: "never" }) },
      wait: false,
      limits: { startMs: 20_000 },
    });
    const { mcp, events } = connected;
    assert.deepEqual(
      mcp.servers.map(({ status }) => status),
      ["starting", "starting"],
    );
    assert.deepEqual(mcp.tools, []);
    mcp.onToolsChanged((tools) => told.push(tools.length));
    await until(() => events.some(({ type }) => type === "server_ready"));
    assert.deepEqual(
      mcp.servers.map(({ status }) => status),
      ["ready", "starting"],
    );
    assert.ok(mcp.tools.length > 0);
    assert.deepEqual(told, [mcp.tools.length]);
  });

  it("ends servers that are still starting when it is closed", async () => {
    const { mcp } = await connect({ servers: { s: entry({ list: "never" }) }, wait: false });
    await mcp.close();
    assert.deepEqual(
      mcp.servers.map(({ status }) => status),
      ["closed"],
    );
  });

  it("refuses to throw for a server, since nobody waits", async () => {
    await assert.rejects(
      connectMcp({ servers: {}, wait: false, onServerError: "throw" }),
      /nothing can be thrown later/,
    );
  });
});

describe("checking an entry", () => {
  it("says why it would be refused, and starts nothing", () => {
    assert.equal(whyNotServer("s", { command: "/nonexistent" }, {}), undefined);
    assert.match(whyNotServer("s", { command: "x", url: "y" }, {}) ?? "", /either a command or a/);
    assert.match(whyNotServer("s", "x", {}) ?? "", /must be an object/);
    assert.match(
      whyNotServer("s", { command: "x", env: { A: "${A}" } }, {}) ?? "",
      /needs the environment variable A/,
    );
  });
});
