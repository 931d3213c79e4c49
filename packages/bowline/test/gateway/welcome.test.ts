/** The model, the notice and the sessions that a client is told when it enters. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedModel } from "@bowline/core/testing";
import type { Access } from "../../src/gateway/access/access.ts";
import { madeHouse, scripted } from "./made-house.ts";
import { gatewayWith, token, TestClient } from "./gateway.ts";

const { model, streamFn } = createScriptedModel([]);
const wanted = { agentId: "assistant", wanted: "scripted/scripted" };
const noModel = { provider: "", model: "" };

describe("the welcome of a client", () => {
  it("names the model of the first agent, and says whether it is the practice model", async () => {
    await using server = await gatewayWith([], {
      backendFor: () => ({ model, streamFn, isPractice: true }),
    });
    const { welcome } = await server.client();
    assert.ok(welcome.ok);
    assert.deepEqual(welcome.model, {
      ...wanted,
      provider: "scripted",
      model: "scripted",
      isPractice: true,
    });
    assert.ok(!("notice" in welcome));
    assert.ok(!("sessions" in welcome));
  });

  it("passes on the notice of the model", async () => {
    const notice = { code: "practice_model", message: "No key was found." } as const;
    await using server = await gatewayWith([], {
      backendFor: () => ({ model, streamFn, isPractice: true, notice }),
    });
    const { welcome } = await server.client();
    assert.equal(welcome.notice, "No key was found.");
  });

  it("says why there is no model, without secrets", async () => {
    const secret = "the-key-of-the-vendor";
    await using server = await gatewayWith([], {
      secrets: [secret],
      backendFor: () => Promise.reject(new Error(`Wrong key: ${secret}`)),
    });
    const { welcome } = await server.client();
    assert.ok(welcome.notice);
    assert.ok(!welcome.notice.includes(secret), welcome.notice);
    assert.deepEqual(welcome.model, { ...wanted, ...noModel, isPractice: false });
  });

  it("names no agent and no model when the list of agents is empty", async () => {
    await using server = await gatewayWith([], { agents: () => [] });
    const { welcome } = await server.client();
    assert.deepEqual(welcome.model, { agentId: "", wanted: "", ...noModel, isPractice: false });
  });

  it("names the model of the last agent that a function made, and the caller's sessions", async () => {
    const authorize = (): Access => ({ scope: "full", sessions: "ann/" });
    await using house = await madeHouse(() => scripted(["Yes."]), { authorize });
    const run = await house.client().send({ sessionKey: "ann/1", message: "Hi" });
    await run.result();
    const url = house.gateway.url.replace("http", "ws");
    const { socket, welcome } = await TestClient.enter(url, token);
    socket.terminate();
    assert.equal(welcome.sessions, "ann/");
    assert.deepEqual([welcome.model.provider, welcome.model.model], ["scripted", "scripted"]);
  });
});
