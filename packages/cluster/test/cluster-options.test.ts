/** The options of createCluster, checked before anything is connected. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCluster, type ClusterOptions } from "@bowline/cluster";
import { Agent } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { secretsIn } from "../src/engine/options.ts";

const good = {
  token: "a long token of the test",
  agents: () => new Agent(createScriptedModel([])),
  postgres: {},
  nats: {},
  restate: {
    ingress: "http://127.0.0.1:1",
    admin: "http://127.0.0.1:1",
    worker: { port: 9080 },
  },
} satisfies ClusterOptions;

describe("the options of a cluster", () => {
  const cases: readonly [string, object, RegExp][] = [
    ["an unknown name", { stoer: 1 }, /stoer/],
    ["an unknown limit", { limits: { maxRun: 1 } }, /maxRun/],
    ["no agents", { agents: undefined }, /"agents" takes a function/],
    ["no database", { postgres: undefined }, /postgres is missing/],
    ["no bus", { nats: undefined }, /nats is missing/],
    ["no engine", { restate: undefined }, /restate is missing/],
    ["an ingress that is no URL", { restate: { ...good.restate, ingress: "x" } }, /ingress must/],
    ["an unknown option of Restate", { restate: { ...good.restate, port: 1 } }, /port/],
    ["a role that does not exist", { role: "boss" }, /"both", "gateway" or "worker"/],
    ["a worker without a port", { restate: { ingress: "http://x" } }, /worker is missing/],
    [
      "a port that is none",
      { restate: { ...good.restate, worker: { port: 70_000 } } },
      /port number/,
    ],
    [
      "a worker that cannot be registered",
      { restate: { ingress: "http://x", worker: { port: 1 } } },
      /admin is missing.*register: false/,
    ],
    ["a limit of users that is none", { maxRunsPerUser: 0 }, /at least 1/],
    [
      "options of a list with functions",
      { agents: { a: good.agents }, backendFor: () => ({}) },
      /agents that are a list/,
    ],
  ];
  for (const [title, wrong, message] of cases)
    it(`refuse ${title}`, async () => {
      await assert.rejects(
        createCluster({ ...good, ...wrong }),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, "invalid_argument");
          assert.match(error.message, message);
          return true;
        },
      );
    });

  it("need no worker for a gateway", async () => {
    await assert.rejects(
      createCluster({
        ...good,
        role: "gateway",
        restate: { ingress: "http://x" },
        postgres: { connectionString: "postgresql://127.0.0.1:1/x", retryMs: 0 },
      }),
      (error: { code?: string }) => error.code !== "invalid_argument",
    );
  });

  it("have secrets, which are redacted", () => {
    const found = secretsIn({
      ...good,
      tokens: { full: "full token", read: "read token" },
      secrets: ["given"],
      postgres: { connectionString: "postgresql://me:pass%20word@host/db" },
      nats: { user: "u", pass: "nats password", token: "nats token" },
      restate: { ...good.restate, headers: { authorization: "Bearer restate" } },
    });
    assert.deepEqual(found.toSorted(), [
      "a long token of the test",
      "full token",
      "given",
      "nats password",
      "nats token",
      "pass word",
      "read token",
      "restate",
    ]);
    assert.ok(secretsIn({ ...good, postgres: { config: { password: "pg" } } }).includes("pg"));
  });
});
