/** The server's own tools on Responses: what an answer holds, and how it goes back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  at,
  added,
  completed,
  created,
  done,
  message,
  read,
  sse,
} from "../openai-responses/events.ts";
import { progress, resent, resentAsText, resentTo, types, wires } from "./replayed.ts";

const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { query: "q" } };
const cited = (url: string, title: string): object => ({
  type: "url_citation",
  url,
  title,
  start_index: 0,
  end_index: 9,
});
const image = {
  type: "image_generation_call",
  id: "ig_1",
  status: "completed",
  output_format: "webp",
  result: "aW1hZ2U=",
  revised_prompt: "A cat",
};

describe("a search on Responses", () => {
  const annotations = [
    cited("https://a.org/1", "One"),
    { type: "file_citation", file_id: "file_1", filename: "report.pdf", index: 3 },
    { type: "unknown_citation", index: 1 },
  ];
  const content = [{ type: "output_text", text: "It is so.", annotations }];
  const { events, message: answered } = read(
    sse(
      created(),
      added(0, { ...search, status: "in_progress" }),
      at(0, "web_search_call.in_progress", { item_id: "ws_1" }),
      at(0, "web_search_call.searching", { item_id: "ws_1" }),
      at(0, "web_search_call.completed", { item_id: "ws_1" }),
      done(0, search),
      added(1, message("", { id: "msg_1" })),
      at(1, "output_text.delta", { content_index: 0, delta: "It is so." }),
      done(1, { ...message("", { id: "msg_1" }), content }),
      completed({
        usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
        tool_usage: { image_gen: { total_tokens: 0 }, web_search: { num_requests: 1 } },
      }),
    ),
  );

  it("gives its sources after the text that they support", () => {
    assert.deepEqual(types(answered.content), ["opaque", "text", "source", "source"]);
    assert.deepEqual(answered.content.slice(2), [
      { type: "source", url: "https://a.org/1", title: "One", textIndex: 1 },
      { type: "source", name: "report.pdf", textIndex: 1 },
    ]);
  });

  it("reports its progress once each", () => {
    assert.deepEqual(progress(events), [
      "ws_1 web_search started",
      "ws_1 web_search running",
      "ws_1 web_search completed",
    ]);
  });

  it("counts what was used", () => {
    assert.deepEqual(answered.usage.providerTools, { web_search: 1 });
  });

  it("goes back to its model as it came", () => {
    assert.equal(
      JSON.stringify(resent(answered)),
      JSON.stringify([search, { type: "message", role: "assistant", content }]),
    );
  });

  it("goes to another model as text with its sources", () => {
    const expected = "It is so.\n\nSources:\n- One: https://a.org/1\n- report.pdf";
    for (const text of resentAsText(answered)) assert.equal(text, expected);
  });
});

describe("a tool of the server's on Responses", () => {
  it("that failed is reported as failed", () => {
    const { events } = read(
      sse(created(), done(0, { ...search, status: "failed" }), ...said(1), completed()),
    );
    assert.deepEqual(progress(events), ["ws_1 web_search started", "ws_1 web_search failed"]);
  });

  it("that the program answers reports no progress", () => {
    const call = { type: "computer_call", id: "cu_1", call_id: "call_1", actions: [] };
    const { events } = read(sse(created(), added(0, call), done(0, call), ...said(1), completed()));
    assert.deepEqual(progress(events), []);
  });

  it("is reported by its name if it is one of an MCP server", () => {
    const call = { type: "mcp_call", id: "mcp_1", name: "roll", arguments: "{}", output: "4" };
    const { events } = read(sse(created(), done(0, call), ...said(1), completed()));
    assert.deepEqual(progress(events), ["mcp_1 roll started", "mcp_1 roll completed"]);
  });
});

describe("a drawn image on Responses", () => {
  const { events, message: answered } = read(
    sse(
      created(),
      added(0, { type: image.type, id: "ig_1", status: "in_progress" }),
      at(0, "image_generation_call.generating", { item_id: "ig_1" }),
      at(0, "image_generation_call.partial_image", { item_id: "ig_1", partial_image_b64: "YQ==" }),
      done(0, image),
      ...said(1),
      completed({ output: [image, message("Here.")] }),
    ),
  );

  it("is an image part, held once", () => {
    assert.deepEqual(types(answered.content), ["opaque", "image", "text"]);
    assert.deepEqual(answered.content[1], {
      type: "image",
      data: "aW1hZ2U=",
      mimeType: "image/webp",
    });
    assert.equal(JSON.stringify(answered).split("aW1hZ2U=").length, 2);
    assert.deepEqual(progress(events), [
      "ig_1 image_generation started",
      "ig_1 image_generation running",
      "ig_1 image_generation completed",
    ]);
  });

  it("goes back to its model as it came", () => {
    assert.equal(JSON.stringify(resent(answered)[0]), JSON.stringify(image));
  });

  it("is left out with its item if a hook removed it", () => {
    const content = answered.content.filter(({ type }) => type !== "image");
    assert.deepEqual(
      (resent({ ...answered, content }) as { type: string }[]).map(({ type }) => type),
      ["message"],
    );
  });

  it("is shown to another model by the user", () => {
    for (const protocol of wires) {
      const sent = resentTo(protocol, answered, false);
      const text = JSON.stringify(sent);
      assert.match(text, /Images and files of the answer above:/);
      assert.equal(text.split("aW1hZ2U=").length, 2);
      assert.ok(!JSON.stringify(sent.slice(0, 2)).includes("aW1hZ2U="));
    }
  });
});

function said(index: number): object[] {
  return [done(index, message("Here.", { id: "msg_9", status: "completed" }))];
}
