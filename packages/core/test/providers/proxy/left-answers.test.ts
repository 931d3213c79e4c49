/** An answer whose client leaves before its end. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import { createScriptedModel } from "../../../src/testing/index.ts";
import { settle } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";
import { post, serve, smallBody } from "./rig.ts";

it("closes the events of a stream function that ignores its signal", async () => {
  const { streamFn, model } = createScriptedModel(["Hello"], { deltaLength: 1 });
  let isClosed = false;
  async function* events(): AsyncGenerator<AssistantMessageEvent, void> {
    const stream = await streamFn(model, { messages: [] }, {});
    try {
      for await (const event of stream) yield event;
    } finally {
      isClosed = true;
    }
  }
  const { handler } = serve([], { streamFn: () => events() });
  const response = await handler(post(smallBody));
  const reader = response.body?.getReader();
  assert.ok(reader);
  for (let read = 0; read < 2; read++) await within("the first event", reader.read());
  await settle();
  assert.equal(isClosed, false);
  await reader.cancel();
  await settle();
  assert.equal(isClosed, true);
});
