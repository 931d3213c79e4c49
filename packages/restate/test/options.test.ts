import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent } from "@bowline/core";
import { createRestateClient, createRestateRuns, createRestateAdmin } from "../src/index.ts";
import { checkRuntime } from "../src/create-runs.ts";
import { readAnswer, readRun } from "../src/read-input.ts";
import { createFakeStore } from "./fake-store.ts";

const store = createFakeStore();
const createAgent = (): Agent => new Agent();
const invalid = { code: "invalid_argument" };

describe("the options of runs on Restate", () => {
  it("has a service of the default name", () => {
    assert.equal(createRestateRuns({ store, createAgent }).service.name, "bowline");
  });

  it("refuses unknown names, and suggests the known one", () => {
    assert.throws(
      () => createRestateRuns({ store, createAgent, onEvents: () => {} } as never),
      /Unknown option "onEvents"\. Did you mean "onEvent"\?/,
    );
    assert.throws(
      () => createRestateClient({ ingress: "http://x", store, url: "" } as never),
      invalid,
    );
    assert.throws(
      () => createRestateRuns({ store, createAgent }).endpoint({ keys: [] } as never),
      invalid,
    );
    assert.equal(typeof createRestateRuns({ store, createAgent }).endpoint(), "function");
    const urls = { admin: "http://x", ingress: "http://x" };
    assert.throws(() => createRestateAdmin({ ...urls, every: 1 } as never), invalid);
  });

  it("refuses values that cannot work", () => {
    for (const option of [
      { store: {} },
      { createAgent: 1 },
      { serviceName: "a-b" },
      { maxStepMs: -1 },
    ])
      assert.throws(() => createRestateRuns({ store, createAgent, ...option } as never), invalid);
    assert.throws(() => createRestateClient({ ingress: "restate", store }), invalid);
    assert.throws(() => createRestateAdmin({ admin: "", ingress: "http://x" }), invalid);
  });

  it("refuses a runtime on which the SDK fails in silence", () => {
    assert.throws(() => checkRuntime({}), { code: "invalid_state" });
    checkRuntime();
  });

  it("refuses unknown fields and shapes of what arrives at the handlers", () => {
    const message = { role: "user", content: "x" };
    for (const input of [
      null,
      { messageId: "", message },
      { messageId: "m", message: {} },
      { messageId: "m", message, more: 1 },
    ])
      assert.throws(() => readRun(input), { name: "TerminalError", code: 400 });
    assert.throws(
      () => readAnswer({ approvalId: "a", answer: { decision: "allow" } }),
      /"at" is missing/,
    );
  });
});
