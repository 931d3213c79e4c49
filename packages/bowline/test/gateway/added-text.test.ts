/** Texts that a program added to a message: clients get them apart from what the person wrote. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UserMessage } from "@bowline/core";
import { createMemoryStore, createSession } from "@bowline/core/session";
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { waitingMessage } from "../../src/gateway/runs/waiting-message.ts";
import { createSecretFilter } from "../../src/secrets.ts";
import { gatewayWith } from "./gateway.ts";
import { madeHouse } from "./made-house.ts";
import { steeringAgents } from "./steering-agents.ts";

const content: UserMessage["content"] = [
  { type: "text", text: "Mend @a.ts" },
  {
    type: "text",
    text: '<file path="a.ts">\nlet a;\n</file>',
    shownAs: "the file a.ts (1 line, 6 bytes)",
    shownFile: "a.ts",
  },
  { type: "text", text: "[Plan mode is on.]", shownAs: "a note: plan mode is on" },
];
const added = [
  { label: "the file a.ts (1 line, 6 bytes)", file: "a.ts" },
  { label: "a note: plan mode is on" },
];

describe("a text that a program added to a message", () => {
  it("is a part with its label in the history, and a label in the snapshot of the run", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const message = { role: "user", content, timestamp: 1 } as const;
    await session.append({ type: "run_start", runId: "r" });
    await session.append({ type: "message", runId: "r", message });
    await session.append({ type: "run_end", runId: "r", reason: "aborted" });
    await session.close();
    await using server = await gatewayWith([], { store });
    const client = await server.client();
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(messages[0]?.message, { role: "user", content, timestamp: 1 });
    await client.call("chat.subscribe", { sessionKey: "s", runId: "r" });
    const { blocks } = await client.event("chat.snapshot", "r");
    assert.deepEqual(blocks, [{ type: "user", text: "Mend @a.ts", added }]);
  });

  it("is a label in the event of a live run, and in the snapshot for a client that joins", async () => {
    await using house = await madeHouse(steeringAgents(content, "Seen."));
    const client = house.client();
    const events: EventFrame[] = [];
    client.onEvent((frame) => void events.push(frame));
    const run = await client.send({ sessionKey: "s", message: "Look" });
    assert.equal((await run.result()).text, "Seen.");
    const told = events.flatMap(({ event, data }) =>
      event === "chat.user" ? [{ text: data.text, ...(data.added && { added: data.added }) }] : [],
    );
    assert.deepEqual(told, [{ text: "Look" }, { text: "Mend @a.ts", added }]);
    const later = house.client();
    const snapshots: EventFrame<"chat.snapshot">[] = [];
    later.onEvent((frame) => void (frame.event === "chat.snapshot" && snapshots.push(frame)));
    await (await later.follow("s", run.runId)).result();
    const users = snapshots[0]?.data.blocks.flatMap((block) =>
      block.type === "user" ? [[block.text, block.added]] : [],
    );
    assert.deepEqual(users, [
      ["Look", undefined],
      ["Mend @a.ts", added],
    ]);
  });

  it("is a label of a message that waits", () => {
    const message: UserMessage = { role: "user", content, timestamp: 1 };
    const about = { messageId: "m", kind: "steer", filter: createSecretFilter([]) } as const;
    assert.deepEqual(waitingMessage(message, about), {
      messageId: "m",
      kind: "steer",
      text: "Mend @a.ts",
      added,
    });
  });
});
