/** The servers of the other tests: where they listen, and how they end. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { listeningAddresses } from "../kit/listening.ts";
import { natsIsMissing, startNats } from "../kit/nats.ts";
import { restateIsMissing, startRestate } from "../kit/restate.ts";

/** 127.0.0.1 in /proc/net/tcp: the bytes in the machine's order. */
const LOOPBACK = "0100007F";
const folder = mkdtempSync(join(tmpdir(), "bowline-servers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("servers of the tests", () => {
  it("listens on loopback only: Restate", { skip: restateIsMissing() }, async () => {
    await using restate = await startRestate({ folder: mkdtempSync(join(folder, "one-")) });
    assert.deepEqual(listeningAddresses(restate.first.pid), [LOOPBACK, LOOPBACK, LOOPBACK]);
  });

  it("listens on loopback only: NATS", { skip: natsIsMissing() }, async () => {
    await using nats = await startNats(mkdtempSync(join(folder, "nats-")));
    assert.deepEqual(listeningAddresses(nats.pid), [LOOPBACK]);
  });

  it("starts three Restate nodes as one cluster", { skip: restateIsMissing() }, async () => {
    await using restate = await startRestate({
      folder: mkdtempSync(join(folder, "three-")),
      nodes: 3,
    });
    for (const node of restate.nodes)
      assert.deepEqual(listeningAddresses(node.pid), [LOOPBACK, LOOPBACK, LOOPBACK]);
    const status = await restate.control("nodes", "list");
    for (const { name } of restate.nodes) assert.match(status, new RegExp(name));
  });

  it("ends its servers when the tests' process is killed", { skip: natsIsMissing() }, async () => {
    const program = `
      import { startNats } from ${JSON.stringify(import.meta.resolve("../kit/nats.ts"))};
      const nats = await startNats(${JSON.stringify(mkdtempSync(join(folder, "killed-")))});
      console.log(nats.pid);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    assert.ok(alive(pid));
    child.kill("SIGKILL");
    const end = performance.now() + 5000;
    while (alive(pid) && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(alive(pid), false);
  });
});
