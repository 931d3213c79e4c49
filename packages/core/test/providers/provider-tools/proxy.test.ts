/** The vendors' own tools through a proxy. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MessageWriter } from "../../../src/llm/writer.ts";
import { EventStream } from "../../../src/llm/stream.ts";
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import type { StreamFn } from "../../../src/llm/model.ts";
import { anthropic } from "../../../src/providers/anthropic-messages/index.ts";
import { call, hello, inProcess, serve } from "../proxy/rig.ts";
import { progress } from "./replayed.ts";

const context = { ...hello, tools: [anthropic.webSearch({ maxUses: 1 })] };

/** A model that searched and says so. */
const searching: StreamFn = ({ api, provider, id: model }) =>
  new EventStream<AssistantMessageEvent, AssistantMessage>(async (push) => {
    const writer = new MessageWriter({ api, provider, model, timestamp: 1 });
    writer.progress("s1", "web_search", "started");
    writer.progress("s1", "web_search", "completed");
    writer.close(writer.openText());
    writer.whole({ type: "source", url: "https://a.org", textIndex: 0 });
    writer.done("stop");
    push(writer.take(), true);
    return writer.message;
  });

describe("a vendor's own tool behind a proxy", () => {
  it("is refused unless the proxy accepts such tools", async () => {
    const { handler } = serve(["never"]);
    const { message } = await call("http://proxy.invalid", { fetch: inProcess(handler) }, context);
    assert.equal(message.error?.status, 403);
    assert.match(message.errorMessage ?? "", /The tool "web_search" of the vendor is not allowed/);
  });

  it("reaches the model as it was declared, if the proxy accepts it", async () => {
    const { handler, script } = serve(["Hello"], { acceptProviderTools: true });
    await call("http://proxy.invalid", { fetch: inProcess(handler) }, context);
    const [tool] = script.calls[0]?.context.tools ?? [];
    assert.deepEqual(tool?.providerTool, context.tools[0]?.providerTool);
  });

  it("reports its progress and its sources", async () => {
    const { handler } = serve([], { streamFn: searching });
    const { events, message } = await call("http://proxy.invalid", { fetch: inProcess(handler) });
    assert.deepEqual(progress(events), ["s1 web_search started", "s1 web_search completed"]);
    assert.deepEqual(message.content[1], { type: "source", url: "https://a.org", textIndex: 0 });
  });
});
