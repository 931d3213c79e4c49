/** The vendors' own tools in requests. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, getModel, type AgentTool } from "../../../src/index.ts";
import { anthropic, anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { google, googleGenerate } from "../../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../../src/providers/openai-chat/index.ts";
import { openai, openaiResponses } from "../../../src/providers/openai-responses/index.ts";
import type { StreamOptions } from "../../../src/llm/model.ts";
import type { Protocol } from "../../../src/providers/protocol.ts";
import { tool } from "../../support.ts";
import { own, shot } from "./values.ts";

const wires: Readonly<Record<string, Protocol>> = {
  "anthropic-messages": anthropicMessages,
  "openai-responses": openaiResponses,
  "google-generate": googleGenerate,
  "openai-chat": openaiChat,
};

const look = tool("look", () => "seen");

function encode(
  api: string,
  tools: AgentTool[],
  options: StreamOptions = {},
): { readonly headers: Record<string, string>; readonly body: Record<string, unknown> } {
  const model = { ...getModel("mine", "m", { baseUrl: "http://127.0.0.1:1/v1" }), api };
  const messages = [{ role: "user", content: "Hi", timestamp: 0 } as const];
  return (wires[api] as Protocol).encode(model, { messages, tools }, options);
}

describe("a vendor's own tool", () => {
  for (const [api, rows] of Object.entries(own)) {
    for (const [value, entry] of rows) {
      it(`is sent as ${JSON.stringify(entry)} on ${api}, beside functions`, () => {
        const { body } = encode(api, [look, value], { cacheRetention: "none" });
        const tools = body.tools as object[];
        assert.equal(tools.length, 2);
        assert.match(JSON.stringify(tools[0]), /"look"/);
        assert.deepEqual(tools[1], entry);
        assert.deepEqual(encode(api, [value], { cacheRetention: "none" }).body.tools, [entry]);
      });
    }

    it(`of ${api} is refused by every other wire, with both names`, () => {
      for (const other of Object.keys(wires).filter((name) => name !== api)) {
        for (const [value] of rows)
          assert.throws(() => encode(other, [look, value]), {
            code: "invalid_argument",
            message: `The tool "${value.name}" is for ${api}, but the model is called over ${other}. Remove the tool or change the model.`,
          });
      }
    });
  }

  it("with an unknown option is refused, with the nearest name", () => {
    const refuse = (make: () => unknown, message: string): void =>
      assert.throws(make, { code: "invalid_argument", message });
    refuse(
      () => anthropic.webSearch({ maxUse: 3 } as object),
      'Unknown option of anthropic.webSearch "maxUse". Did you mean "maxUses"?',
    );
    refuse(
      () => openai.fileSearch({ vectorStoreIds: [], maxResults: 1 } as never),
      'Unknown option of openai.fileSearch "maxResults". Did you mean "maxNumResults"?',
    );
    refuse(
      () => google.codeExecution({ language: "C" } as never),
      'Unknown option of google.codeExecution "language". There are none.',
    );
    refuse(
      () => openai.codeInterpreter({ container: { files: [] } as object }),
      'Unknown option of the container of openai.codeInterpreter "files". Did you mean "fileIds"?',
    );
    refuse(
      () => anthropic.computer({ displayWidthPx: 1, displayHeightPx: 1 } as never),
      "anthropic.computer has no execute. Pass the function that performs an action.",
    );
  });

  it("of a beta names it in the header, after those of the caller", () => {
    const computer = anthropic.computer({ displayWidthPx: 1, displayHeightPx: 1, execute: shot });
    const { headers } = encode("anthropic-messages", [computer], {
      headers: { "Anthropic-Beta": "one, two" },
    });
    assert.equal(headers["Anthropic-Beta"], "one,two,computer-use-2025-11-24");
    const plain = encode("anthropic-messages", [anthropic.webSearch()]);
    assert.equal("anthropic-beta" in plain.headers, false);
  });

  it("may be chosen by its name where the server can be told to use it", () => {
    const choose = (api: string, value: AgentTool): Record<string, unknown> =>
      encode(api, [look, value], { toolChoice: { name: value.name } }).body;
    const { tool_choice: messages } = choose("anthropic-messages", anthropic.webSearch());
    assert.deepEqual(messages, { type: "tool", name: "web_search" });
    const { tool_choice: responses } = choose("openai-responses", openai.codeInterpreter());
    assert.deepEqual(responses, { type: "code_interpreter" });
    assert.throws(() => choose("google-generate", google.search()), {
      code: "invalid_argument",
      message:
        'Gemini chooses itself when to use "google_search". Leave out the toolChoice or name a function.',
    });
  });

  it("is not run, whatever the model calls", async () => {
    for (const value of [anthropic.webSearch(), openai.webSearch(), google.search()])
      assert.throws(() => (value as AgentTool).execute("1", {}), /runs on the vendor's servers/);
  });

  it("is taken by an agent beside ordinary tools", () => {
    const agent = new Agent({ tools: [look, anthropic.webSearch(), google.search()] });
    assert.equal(agent.state.tools.length, 3);
  });
});
