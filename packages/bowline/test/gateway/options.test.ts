/** Invalid options of a gateway are rejected before it listens. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent } from "@bowline/core";
import { createGateway, defaultLimits, startGateway } from "bowline/gateway";

const agents = (): Agent => new Agent();
const list = () => [{ id: "assistant", model: "provider/model", description: "" }];
const backendFor = (): never => {
  throw new Error("nobody asks");
};
const systemPrompt = (): string => "";
const token = "a token";

/** Returns the message with which both functions reject these options. */
async function refusal(options: object): Promise<string> {
  const messages: string[] = [];
  for (const start of [createGateway, startGateway] as readonly ((
    options: never,
  ) => Promise<{ close(): Promise<void> }>)[]) {
    const port = start === startGateway ? { port: 0 } : {};
    const error: unknown = await start({ ...port, ...options } as never).then(
      (gateway) => gateway.close(),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Error, `${JSON.stringify(options)} was taken`);
    assert.equal((error as { code?: unknown }).code, "invalid_argument");
    messages.push(error.message);
  }
  assert.equal(messages[0], messages[1]);
  return messages[0] ?? "";
}

describe("createGateway and startGateway", () => {
  it("reject an unknown option or limit and suggest the nearest name", async () => {
    assert.equal(
      await refusal({ token, agents, limit: {} }),
      'Unknown option "limit". Did you mean "limits"?',
    );
    assert.equal(
      await refusal({ token, agents, maxTurns: 3 }).then((why) => why.split(".")[0]),
      'Unknown option "maxTurns"',
    );
    assert.equal(
      await refusal({ token, agents, limits: { maxTurn: 3 } }),
      'Unknown limit "maxTurn". Did you mean "maxTurns"?',
    );
  });

  it("reject every limit outside limits", async () => {
    for (const name of Object.keys(defaultLimits))
      assert.match(await refusal({ token, agents, [name]: 1 }), /^Unknown option/);
  });

  it("reject an option of the other function", async () => {
    await assert.rejects(
      startGateway({ token, agents, path: "/agents" } as never),
      /Unknown option "path"/,
    );
    await assert.rejects(
      createGateway({ token, agents, port: 0 } as never),
      /Unknown option "port"/,
    );
  });

  it("reject options for a list of agents next to functions that create them", async () => {
    for (const [name, value] of Object.entries({
      backendFor,
      systemPrompt,
      tools: () => [],
      providers: new Map(),
    }))
      for (const made of [(_key: string) => agents(), { assistant: agents }])
        assert.match(
          await refusal({ token, agents: made, [name]: value }),
          new RegExp(`^"${name}" goes with agents that are a list`),
        );
    assert.match(
      await refusal({ token, agents: list, systemPrompt }),
      /give a list and backendFor/,
    );
  });

  it("reject agents that are neither a function nor a record of functions", async () => {
    for (const wrong of [undefined, {}, [], { assistant: new Agent() }, "assistant"])
      assert.match(await refusal({ token, agents: wrong }), /^Option "agents" takes a function/);
  });

  it("reject token together with tokens, and an empty token", async () => {
    assert.match(
      await refusal({ token, tokens: { full: token }, agents }),
      /^Give token or tokens/,
    );
    assert.match(await refusal({ token: "", agents }), /must not be empty/);
  });

  it("report a function that returns an agent although backendFor is set", async () => {
    await using gateway = await started({ token, agents, backendFor, systemPrompt });
    const answer = await fetch(`${gateway.url}/api/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ sessionKey: "s", message: "Hi" }),
    });
    assert.match(await answer.text(), /A function that makes agents goes without it/);
  });
});

async function started(options: object): Promise<AsyncDisposable & { readonly url: string }> {
  const gateway = await startGateway({ port: 0, ...options } as never);
  return { url: gateway.url, [Symbol.asyncDispose]: () => gateway.close() };
}
