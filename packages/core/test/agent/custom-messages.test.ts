/**
 * Custom messages: declared by merging, handled like any other, and sent to a model only if the
 * application converts them.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AgentMessage, agentLoopContinue } from "../../src/agent/index.ts";
import type { Message } from "../../src/llm/message.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { createPrograms } from "../../../../test/support/seeds/programs.ts";
import { call, hello, rig, short, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

// A merged type would apply to every test of this repository, so the last test compiles separate
// programs.
const notice = { role: "notice", text: "Connected." } as unknown as AgentMessage;
const isNotice = (message: unknown): boolean => message === notice;

describe("a custom message", () => {
  // Requirements: P2, P3
  it("is recorded and emitted like any other, and not sent to a model by default", async () => {
    const { agent, script, events } = rig(["Hello.", "Again."]);
    agent.state.messages.push(notice);
    await agent.prompt([notice, hello]);
    assert.deepEqual(
      events.map(short).filter((event) => event.startsWith("message_end")),
      ["message_end:notice", "message_end:user", "message_end:assistant"],
    );
    assert.deepEqual(agent.state.messages.map(isNotice), [true, true, false, false]);
    assert.deepEqual(texts(script.calls[0]?.context.messages ?? []), ["user: Hello"]);
  });

  // Requirements: P2, P26
  it("can be steered and queued, and can be the message that a run continues from", async () => {
    const convertToLlm = (messages: AgentMessage[]): Message[] =>
      messages.map((message): Message =>
        isNotice(message) ? { ...hello, content: "(notice)" } : message,
      );
    const { agent, script } = rig([call("a"), "One.", "Two.", "Three."], [tool("a", () => "1")], {
      convertToLlm,
    });
    agent.subscribe(({ type }) => void (type === "tool_execution_end" && agent.steer(notice)));
    agent.followUp(notice);
    await agent.prompt("Hi");
    agent.state.messages.push(notice);
    await agent.continue();
    assert.deepEqual(
      script.calls.map(({ context }) => texts(context.messages).at(-1)),
      ["user: Hi", "user: (notice)", "user: (notice)", "user: (notice)"],
    );
    const low = createScriptedModel(["Four."]);
    const context = { systemPrompt: "", messages: [notice] };
    await agentLoopContinue(
      context,
      { model: low.model, convertToLlm },
      undefined,
      low.streamFn,
    ).result();
    assert.deepEqual(texts(low.calls[0]?.context.messages ?? []), ["user: (notice)"]);
  });

  // Requirements: P2, P43
  it("has a declaration-merged type that holds in both entries", async () => {
    await using programs = await createPrograms();
    const entries = ["@bowline/core", "@bowline/core/agent"];
    for (const [index, entry] of entries.entries()) {
      await programs.add(
        `merged-${index}`,
        `import type { AgentMessage } from "@bowline/core";
import { Agent, type AgentMessage as Same } from "@bowline/core/agent";
declare module "${entry}" {
  interface CustomAgentMessages {
    notice: { role: "notice"; text: string };
  }
}
export const message: AgentMessage & Same = { role: "notice", text: "Connected." };
// @ts-expect-error its text is declared
export const wordless: AgentMessage = { role: "notice" };
new Agent().steer(message);
// @ts-expect-error a model does not know it
new Agent({ convertToLlm: (messages) => messages });
new Agent({ convertToLlm: (messages) => messages.flatMap((each) => (each.role === "notice" ? [] : [each])) });
`,
      );
    }
    await programs.add(
      "unmerged",
      `import type { AgentMessage } from "@bowline/core";
// @ts-expect-error no such role
export const message: AgentMessage = { role: "notice", text: "Connected." };
`,
    );
    assert.deepEqual([...(await programs.check())], []);
  });
});
