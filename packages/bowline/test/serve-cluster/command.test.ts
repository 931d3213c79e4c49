/** `bowline serve --cluster` and `bowline cluster` before they reach any server. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bowline, temporary } from "../command.ts";

const config = { postgres: {}, restate: { ingress: "http://127.0.0.1:1" }, nats: {} };

async function run(args: readonly string[], content: object = config, env = {}) {
  await using home = await temporary();
  const file = join(home.path, "cluster.json");
  await writeFile(file, JSON.stringify(content));
  const { code, stderr, stdout } = await bowline(
    args.map((arg) => (arg === "FILE" ? file : arg)),
    { cwd: home.path, env: { BOWLINE_HOME: join(home.path, "data"), ...env } },
  );
  return { code, stdout, said: stderr.replace(home.path, "") };
}

describe("bowline serve --cluster", () => {
  it("names what is wrong with the file, with its line, and ends with 1", async () => {
    const { code, said } = await run(["serve", "--cluster", "FILE"], { ...config, nat: {} });
    assert.equal(code, 1);
    assert.equal(
      said,
      'bowline: /cluster.json:1:69: The file has no "nat". Did you mean "nats"?\n',
    );
  });

  it("needs the token that all gateways share", async () => {
    const { code, said } = await run(["serve", "--cluster", "FILE", "--role", "gateway"]);
    assert.equal(code, 1);
    assert.match(
      said,
      /^bowline: All gateways of a cluster need the same token\. Set BOWLINE_TOKEN\.\n$/,
    );
  });

  it("refuses another machine's reach without --expose, also for a worker", async () => {
    const args = ["serve", "--cluster", "FILE", "--role", "worker", "--host", "0.0.0.0"];
    const { code, said } = await run(args);
    assert.equal(code, 1);
    assert.match(said, /^bowline: 0\.0\.0\.0 can be reached by other machines: pass --expose/);
  });

  it("demands the worker's port of a process that is a worker", async () => {
    const { code, said } = await run(["serve", "--cluster", "FILE", "--role", "worker"]);
    assert.equal(code, 1);
    assert.match(said, /^bowline: The option restate\.worker is missing\./);
  });

  for (const [args, message] of [
    [["serve", "--role", "worker"], "--role goes with --cluster <file>."],
    [
      ["serve", "--cluster", "FILE", "--role", "boss"],
      '--role takes both, gateway, worker, not "boss".',
    ],
    [["cluster"], "bowline cluster has one command: bowline cluster status."],
    [["cluster", "start"], "bowline cluster has one command: bowline cluster status."],
    [["cluster", "status"], "Which cluster? Pass the file of bowline serve: --cluster <file>."],
  ] as const)
    it(`ends with 2 for bowline ${args.join(" ")}`, async () => {
      const { code, said } = await run(args);
      assert.deepEqual([code, said], [2, `bowline: ${message}\n`]);
    });

  it("prints the help of bowline cluster", async () => {
    const { code, stdout } = await run(["cluster", "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: bowline cluster status --cluster <file>/);
  });
});

describe("bowline cluster status", () => {
  it("says for each part why it is not ready, and ends with 1", async () => {
    const nowhere = "postgresql://ada:a-long-password@127.0.0.1:1/bowline";
    const { code, stdout } = await run(
      ["cluster", "status", "--cluster", "FILE"],
      {
        ...config,
        postgres: { connectionString: "${NOWHERE}" },
        nats: { servers: ["nats://127.0.0.1:1"] },
      },
      { NOWHERE: nowhere },
    );
    assert.equal(code, 1);
    assert.match(stdout, /^PostgreSQL: not ready: .*ECONNREFUSED/m);
    assert.match(stdout, /^Restate: not ready: Restate's ingress does not answer: /m);
    assert.match(stdout, /^NATS: not ready: NATS at \S+ cannot be reached: /m);
    assert.ok(!stdout.includes("a-long-password"));
  });
});
