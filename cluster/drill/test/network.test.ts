/** Hosts with addresses of their own, and links that are cut without an error. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Network, networkIsMissing } from "../chaos/network.ts";

const namespaces = (): string => execFileSync("ip", ["netns", "list"]).toString();

describe("the drill's hosts", { skip: networkIsMissing() }, () => {
  it("lose what is sent over a cut link, and get it when the link is healed", async () => {
    const network = new Network();
    await network.open(["one", "two"]);
    const { address, prefix } = network.host("one");
    const program = `require("node:net").createServer((socket) => socket.pipe(socket)).listen(4000, "${address}", () => console.log("up"))`;
    const [command, ...args] = [...prefix, process.execPath, "-e", program];
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(child.stdout, "data");
      const socket = connect(4000, address);
      await once(socket, "connect");
      let echoed = "";
      socket.setEncoding("utf8").on("data", (text: string) => (echoed += text));
      const until = async (text: string): Promise<void> => {
        const end = performance.now() + 20_000;
        const isThere = (): boolean => echoed === text;
        while (!isThere() && performance.now() < end) await sleep(20);
        assert.equal(echoed, text);
      };
      socket.write("a");
      await until("a");
      await network.cut("drill", "one");
      socket.write("b");
      await sleep(500);
      assert.equal(echoed, "a");
      await network.heal("one", "drill");
      await until("ab");
      socket.destroy();
    } finally {
      child.kill("SIGKILL");
      await network[Symbol.asyncDispose]();
    }
    assert.ok(!namespaces().includes(prefix.at(-1) ?? ""), "the namespaces are removed");
  });
});
