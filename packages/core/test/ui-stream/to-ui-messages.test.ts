/** A transcript as the messages that a page begins with. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scriptedToolCall } from "../../src/testing/index.ts";
import { toUIMessages, type UIData } from "../../src/ui-stream/index.ts";
import { call, tool } from "../support.ts";
import { agentOf } from "./rig.ts";

describe("toUIMessages()", () => {
  it("makes one message of an answer, its calls and the answer after them", async () => {
    const agent = agentOf(
      [
        {
          content: [
            { type: "thinking", thinking: "hidden" },
            { type: "text", text: "Let me see." },
            scriptedToolCall("look", { at: "sea" }, "c1"),
            scriptedToolCall("gone", {}, "c2"),
          ],
        },
        "A ship.",
      ],
      { tools: [tool("look", () => "a ship")] },
    );
    await agent.prompt("What is there?");
    const about = { type: "dynamic-tool", toolName: "look", toolCallId: "c1" };
    assert.deepEqual(toUIMessages(agent.state.messages), [
      { id: "message-0", role: "user", parts: [{ type: "text", text: "What is there?" }] },
      {
        id: "message-1",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "text", text: "Let me see.", state: "done" },
          { ...about, input: { at: "sea" }, state: "output-available", output: "a ship" },
          {
            ...about,
            toolName: "gone",
            toolCallId: "c2",
            input: {},
            state: "output-error",
            errorText: "The tool was not run.",
          },
          { type: "step-start" },
          { type: "text", text: "A ship.", state: "done" },
        ],
      },
    ]);
    const [, withThinking] = toUIMessages(agent.state.messages, { reasoning: true });
    assert.deepEqual(withThinking?.parts[1], { type: "reasoning", text: "hidden", state: "done" });
  });

  it("gives the same ids each time, shows images, and leaves out messages of other roles", async () => {
    const agent = agentOf(["One.", "Two."]);
    await agent.prompt("Look", [{ type: "image", data: "iVBORw0K", mimeType: "image/png" }]);
    agent.state.messages.push({ role: "note", text: "mine" } as never);
    await agent.prompt("And?");
    const shown = toUIMessages(agent.state.messages);
    assert.deepEqual(
      shown.map(({ id, role }) => [id, role]),
      [
        ["message-0", "user"],
        ["message-1", "assistant"],
        ["message-2", "user"],
        ["message-3", "assistant"],
      ],
    );
    const url = "data:image/png;base64,iVBORw0K";
    assert.deepEqual(shown[0]?.parts[1], { type: "file", mediaType: "image/png", url });
    assert.deepEqual(toUIMessages(agent.state.messages), shown);
  });

  it("shows the label of what a program added to a message, and not its text", () => {
    const content = [
      { type: "text" as const, text: "Mend it" },
      { type: "text" as const, text: "let a;", shownAs: "the file a.ts", shownFile: "a.ts" },
      { type: "text" as const, text: "Plan.", shownAs: "a note" },
    ];
    const [shown] = toUIMessages([{ role: "user", content, timestamp: 0 }]);
    assert.deepEqual(shown?.parts, [
      { type: "text", text: "Mend it" },
      { type: "data-added", data: { label: "the file a.ts", file: "a.ts" } },
      { type: "data-added", data: { label: "a note" } },
    ]);
  });

  it("keeps the ids of data, with the latest data of each id", async () => {
    let miles = 0;
    const agent = agentOf([call("a"), call("b"), "Done."], {
      tools: [tool("a", () => "1"), tool("b", () => "2")],
    });
    await agent.prompt("Look");
    const toData = (): UIData[] => [
      { name: "way", id: "1", data: { miles: ++miles } },
      { name: "note", data: miles },
    ];
    const parts = toUIMessages(agent.state.messages, { toData })[1]?.parts ?? [];
    assert.deepEqual(
      parts.filter(({ type }) => type.startsWith("data-")),
      [
        { type: "data-way", id: "1", data: { miles: 2 } },
        { type: "data-note", data: 1 },
        { type: "data-note", data: 2 },
      ],
    );
  });
});
