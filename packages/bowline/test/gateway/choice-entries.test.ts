/** The check of a model that a client chooses, without a server. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { GatewayError } from "../../src/gateway/protocol/gateway-error.ts";
import { checkPatch } from "../../src/gateway/sessions/choice-entries.ts";
import type { Backend } from "../../src/models/backend.ts";

/** Checks the model `house/large` with what the server has for it. */
async function check(backendFor: () => Backend | undefined): ReturnType<typeof checkPatch> {
  const host = {
    store: createMemoryStore(),
    agents: async () => [{ id: "assistant", description: "Helps." }],
    choices: { of: async () => ({}) },
    backendFor: async () => backendFor(),
  };
  return checkPatch(host, { sessionKey: "s", model: "house/large" });
}
const found = {} as Backend;

async function refusal(backendFor: () => Backend | undefined): Promise<unknown> {
  try {
    return await check(backendFor);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.frame.data?.code, error.message];
  }
}

describe("a title that a client chooses", () => {
  it("is accepted for a session whose agent no longer exists", async () => {
    const host = {
      store: createMemoryStore(),
      agents: async () => [],
      choices: { of: async () => ({ agentId: "gone" }) },
      backendFor: async () => found,
    };
    assert.deepEqual(await checkPatch(host, { sessionKey: "s", title: "Roof" }), {});
  });
});

describe("a model that a client chooses", () => {
  it("is accepted if the server has it", async () => {
    assert.deepEqual(await check(() => found), { model: "house/large" });
  });

  it("is refused for an agent whose model the application sets", async () => {
    const why =
      'The application sets the model of the agent "assistant". It cannot be changed here.';
    assert.deepEqual(await refusal(() => undefined), ["bad_params", why]);
  });

  it("is refused if another model would answer, or the server does not know it", async () => {
    const notice = { code: "practice_model", message: "There is no key." } as const;
    assert.deepEqual(await refusal(() => ({ ...found, notice })), [
      "bad_params",
      "This server cannot use the model: There is no key.",
    ]);
    const unknown = (): never => {
      throw new BowlineError("invalid_argument", "There is no such provider.");
    };
    assert.deepEqual(await refusal(unknown), ["bad_params", "There is no such provider."]);
  });
});
