/** What servers may ask: what a hook answers, and nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { capabilitiesOf } from "../src/server/handlers.ts";
import { call, connect, entry } from "./support.ts";

describe("a server that asks for a model's answer", () => {
  it("is refused without a hook", async () => {
    await using connected = await connect({ servers: { s: entry() } });
    assert.match((await call(connected.mcp, "s__sample")).text, /"code":-32601/);
  });

  it("gets the answer of the hook, which knows the server", async () => {
    const asked: unknown[] = [];
    await using connected = await connect({
      servers: { s: entry() },
      sample: async ({ maxTokens }, { server, signal }) => {
        asked.push([server, maxTokens, signal.aborted]);
        return { role: "assistant", model: "m", content: { type: "text", text: "hi" } };
      },
    });
    const { text } = await call(connected.mcp, "s__sample");
    assert.match(text, /"text":"hi"/);
    assert.deepEqual(asked, [["s", 10, false]]);
  });
});

describe("the capabilities that are declared", () => {
  it("are those with a hook", () => {
    assert.deepEqual(capabilitiesOf({ servers: {} }), {});
    const all = {
      servers: {},
      elicit: async () => assert.fail(),
      sample: async () => assert.fail(),
    };
    assert.deepEqual(Object.keys(capabilitiesOf(all)), ["elicitation", "sampling"]);
  });
});
