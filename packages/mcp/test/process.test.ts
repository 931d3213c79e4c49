/** The processes of servers: what they get, and that none is left. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, it } from "node:test";
import { call, connect, entry } from "./support.ts";
import { until } from "../../../test/support/until.ts";

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("the process of a server", () => {
  it("gets the safe part of the environment and its own variables, and no keys", async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: "/home/me",
      OPENAI_API_KEY: "sk-1234567890",
      DATABASE_URL: "postgres://me:secret@host/db",
      NODE_OPTIONS: "--no-warnings",
      LANG: "() { :; }; echo",
    };
    await using connected = await connect({
      servers: { s: { ...entry(), env: { MODE: "test", OWN_HOME: "${HOME}" } } },
      env,
    });
    const { text } = await call(connected.mcp, "s__env");
    assert.deepEqual(JSON.parse(text), {
      PATH: process.env.PATH,
      HOME: "/home/me",
      MODE: "test",
      OWN_HOME: "/home/me",
    });
  });

  it("is ended with all that it started, when it is closed", async () => {
    const connected = await connect({ servers: { s: entry() } });
    const pid = Number((await call(connected.mcp, "s__spawn")).text);
    assert.ok(isAlive(pid));
    await connected.mcp.close();
    await until(() => !isAlive(pid));
    assert.deepEqual(connected.mcp.tools, []);
  });

  it("is ended with all that it started, when it dies", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    const pid = Number((await call(connected.mcp, "s__spawn")).text);
    assert.ok((await call(connected.mcp, "s__die")).isError);
    await until(() => !isAlive(pid));
  });

  it("is ended with all that it started, when this process is killed", async () => {
    const program = `
      import { connect, call, entry } from ${JSON.stringify(join(import.meta.dirname, "support.ts"))};
      const { mcp } = await connect({ servers: { s: entry({ start: "ignores-end" }) } });
      console.log((await call(mcp, "s__spawn")).text);
      setInterval(() => {}, 1000);`;
    const options = ["--conditions=@bowline/source", "--input-type=module", "--eval", program];
    const host = spawn(process.execPath, options, {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    const pid = Number(line);
    assert.ok(isAlive(pid));
    host.kill("SIGKILL");
    await until(() => !isAlive(pid));
  });

  it("is ended when the variable that holds the servers goes out of scope", async () => {
    let pid = 0;
    {
      await using mcp = (await connect({ servers: { s: entry() } })).mcp;
      pid = Number((await call(mcp, "s__spawn")).text);
    }
    await until(() => !isAlive(pid));
  });

  it("is not started again after it was closed", async () => {
    const { mcp, events } = await connect({
      servers: { s: entry() },
      limits: { restartDelayMs: 60_000 },
    });
    assert.ok((await call(mcp, "s__die")).isError);
    await until(() => events.some(({ type }) => type === "server_lost"));
    await mcp.close();
    assert.equal(mcp.servers[0]?.status, "closed");
    assert.equal(events.filter(({ type }) => type === "server_ready").length, 1);
  });
});

describe("the options", () => {
  it("are refused where they are unknown or cannot work", async () => {
    const servers = {};
    await assert.rejects(connect({ servers, server: {} } as never), /Did you mean "servers"/);
    await assert.rejects(connect({ servers, limits: { callMS: 5 } as never }), /Unknown limit/);
    await assert.rejects(connect({ servers, limits: { callMs: -5 } }), /callMs must be a number/);
    await assert.rejects(connect({ servers, onServerError: "ignore" as never }), /onServerError/);
  });

  it("may name no server at all", async () => {
    await using connected = await connect({ servers: {} });
    assert.deepEqual(connected.mcp.tools, []);
    await assert.rejects(connected.mcp.readResource("s", "file:///a"), /There is no server "s"/);
  });
});
