/** Server tools of Messages servers: what an answer holds, and how it goes back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reduceEvents } from "../../../src/llm/event.ts";
import { billedUsage, addUsage } from "../../../src/llm/usage.ts";
import * as wire from "../anthropic-messages/events.ts";
import { progress, resent, resentAsText } from "./replayed.ts";

const call = {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: { query: "q" },
};
const result = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    { type: "web_search_result", url: "https://a.org/1", title: "One", encrypted_content: "E1" },
  ],
};
const cited = (url: string, title: string): object => ({
  type: "web_search_result_location",
  url,
  title,
  cited_text: `Words of ${title}`,
  encrypted_index: "I",
});

const searched = [
  wire.begin(),
  ...wire.text(0, "I look."),
  wire.start(1, { ...call, input: {} }),
  wire.json(1, '{"query":'),
  wire.json(1, '"q"}'),
  wire.stop(1),
  wire.start(2, result),
  wire.stop(2),
  wire.start(3, { type: "text", text: "", citations: [] }),
  wire.delta(3, { type: "citations_delta", citation: cited("https://a.org/1", "One") }),
  wire.delta(3, { type: "text_delta", text: "It is so." }),
  wire.delta(3, { type: "citations_delta", citation: cited("https://b.org/2", "Two") }),
  wire.stop(3),
  ...wire.text(4, " The end."),
  wire.end("end_turn", { output_tokens: 9, server_tool_use: { web_search_requests: 2 } }),
  wire.over,
];

describe("a search on Messages", () => {
  const { events, message } = wire.read(wire.sse(...searched));

  it("gives its sources after the text that they support", () => {
    assert.deepEqual(
      message.content.map(({ type }) => type),
      ["text", "opaque", "opaque", "text", "source", "source", "text"],
    );
    assert.deepEqual(message.content.slice(4, 6), [
      {
        type: "source",
        url: "https://a.org/1",
        title: "One",
        citedText: "Words of One",
        textIndex: 3,
      },
      {
        type: "source",
        url: "https://b.org/2",
        title: "Two",
        citedText: "Words of Two",
        textIndex: 3,
      },
    ]);
    assert.deepEqual(reduceEvents(events), message);
  });

  it("reports its progress, and is no call of a tool", () => {
    assert.deepEqual(progress(events), [
      "srvtoolu_1 web_search started",
      "srvtoolu_1 web_search running",
      "srvtoolu_1 web_search completed",
    ]);
    assert.equal(message.stopReason, "stop");
  });

  it("reports no progress of blocks that belong to no tool", () => {
    const { events: others, message: answered } = wire.read(
      wire.sse(
        wire.begin(),
        wire.start(0, { type: "compaction", content: "So far." }),
        wire.stop(0),
        ...wire.text(1, "Hello"),
        wire.end("end_turn"),
        wire.over,
      ),
    );
    assert.deepEqual(progress(others), []);
    assert.equal(answered.content.length, 2);
  });

  it("reports the result of a call that an earlier answer made, under the name of its type", () => {
    const { events: resumed } = wire.read(
      wire.sse(
        wire.begin(),
        wire.start(0, result),
        wire.stop(0),
        ...wire.text(1, "Found."),
        wire.end("end_turn"),
        wire.over,
      ),
    );
    assert.deepEqual(progress(resumed), ["srvtoolu_1 web_search completed"]);
  });

  it("counts what was used, and adds it up", () => {
    assert.deepEqual(message.usage.providerTools, { web_search: 2 });
    const sum = addUsage(billedUsage(message), { providerTools: { web_search: 1, web_fetch: 4 } });
    assert.deepEqual(sum.providerTools, { web_search: 3, web_fetch: 4 });
  });

  it("goes back to its model as it came", () => {
    const citations = [cited("https://a.org/1", "One"), cited("https://b.org/2", "Two")];
    const blocks = [
      { type: "text", text: "I look." },
      call,
      result,
      { type: "text", text: "It is so.", citations },
      { type: "text", text: " The end." },
    ];
    assert.equal(JSON.stringify(resent(message)), JSON.stringify(blocks));
  });

  it("goes to another model as text with its sources", () => {
    const said =
      "I look.It is so. The end.\n\nSources:\n- One: https://a.org/1\n- Two: https://b.org/2";
    for (const text of resentAsText(message)) assert.equal(text, said);
  });

  it("that failed is reported as failed", () => {
    const error = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
    const failed = wire.read(
      wire.sse(
        wire.begin(),
        wire.start(0, call),
        wire.stop(0),
        wire.start(1, { ...result, content: error }),
        wire.stop(1),
        ...wire.text(2, "No."),
        wire.end("end_turn"),
        wire.over,
      ),
    );
    assert.equal(progress(failed.events).at(-1), "srvtoolu_1 web_search failed");
  });

  it("proves no call of ours", () => {
    const { message: both } = wire.read(
      wire.sse(
        wire.begin(),
        wire.start(0, call),
        wire.stop(0),
        wire.start(1, result),
        wire.stop(1),
        wire.start(2, wire.toolUse("toolu_1")), // without arguments or an end
        wire.over,
      ),
    );
    assert.equal(both.stopReason, "error");
    const { message: alone } = wire.read(
      wire.sse(wire.begin(), wire.start(0, call), wire.stop(0), wire.end("tool_use"), wire.over),
    );
    assert.deepEqual(wire.calls(alone), []);
    assert.notEqual(alone.stopReason, "toolUse");
  });
});

describe("citations of documents on Messages", () => {
  it("name the document", () => {
    const citation = {
      type: "page_location",
      cited_text: "Words",
      document_index: 0,
      document_title: "Report",
      start_page_number: 1,
      end_page_number: 2,
    };
    const { content } = wire.answer(
      wire.begin(),
      wire.start(0, { type: "text", text: "" }),
      wire.delta(0, { type: "text_delta", text: "Yes." }),
      wire.delta(0, { type: "citations_delta", citation }),
      wire.stop(0),
      wire.end("end_turn"),
      wire.over,
    );
    assert.deepEqual(content[1], {
      type: "source",
      title: "Report",
      citedText: "Words",
      textIndex: 0,
    });
  });

  it("whose address is no web address make no link", () => {
    const { content } = wire.answer(
      wire.begin(),
      wire.start(0, { type: "text", text: "Yes.", citations: [{ url: "javascript:alert(1)" }] }),
      wire.stop(0),
      wire.end("end_turn"),
      wire.over,
    );
    assert.deepEqual(content[1], { type: "source", name: "javascript:alert(1)", textIndex: 0 });
  });
});
