/** A run as chunks of the AI SDK's UI message stream. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import {
  BowlineError,
  createAgentTool,
  defineTool,
  reduceEvents,
  requireApproval,
  type AssistantMessage,
  type AssistantMessageEvent,
} from "../../src/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import {
  toUIMessageResponse,
  toUIMessageStream,
  type UIMessageChunk,
  type UIMessageStreamOptions,
} from "../../src/ui-stream/index.ts";
import { tool } from "../support.ts";
import { checkGrammar } from "./grammar.ts";
import { agentOf, chunksOf } from "./rig.ts";

async function read(
  agent: ReturnType<typeof agentOf>,
  options: UIMessageStreamOptions = {},
): Promise<UIMessageChunk[]> {
  const chunks = await Array.fromAsync(
    toUIMessageStream(agent.stream("Hello"), { messageId: "m", ...options }),
  );
  checkGrammar(chunks);
  return chunks;
}

/** Chunks without metadata, in which usage and ids differ from run to run. */
function plain(chunks: readonly UIMessageChunk[]): object[] {
  return chunks.map((chunk) => {
    const { messageMetadata: _, ...rest } = chunk as { messageMetadata?: unknown };
    return rest;
  });
}

function text(contentIndex: number, content: string): AssistantMessageEvent[] {
  const about = { attempt: 1, contentIndex };
  return [
    { type: "text_start", ...about },
    { type: "text_delta", ...about, delta: content },
    { type: "text_end", ...about, content },
  ];
}

describe("toUIMessageStream()", () => {
  it("sends a text with a provider's own item as one step, without the item", async () => {
    const item = { type: "opaque", protocol: "p", raw: { any: 1 } } as const;
    const chunks = await read(agentOf([{ content: [item, { type: "text", text: "Hi." }] }]));
    assert.deepEqual(
      chunks.map(({ type }) => type),
      ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"],
    );
  });

  it("sends a text answer as one step", async () => {
    assert.deepEqual(plain(await read(agentOf(["Hi."]))), [
      { type: "start", messageId: "m" },
      { type: "start-step" },
      { type: "text-start", id: "0.0" },
      { type: "text-delta", id: "0.0", delta: "Hi." },
      { type: "text-end", id: "0.0" },
      { type: "finish-step" },
      { type: "finish", finishReason: "stop" },
    ]);
  });

  it("sends sources, images and files of an answer, and no link that a page must not open", async () => {
    const chunks = await read(
      agentOf([
        {
          content: [
            { type: "text", text: "Look." },
            { type: "source", url: "https://example.org/a", title: "A" },
            { type: "source", url: "javascript:alert(1)", title: "B" },
            { type: "source", name: "c.pdf", mimeType: "application/pdf" },
            { type: "image", data: "aW1n", mimeType: "image/png" },
            { type: "file", url: "gs://bucket/d", mimeType: "audio/wav" },
          ],
        },
      ]),
    );
    assert.deepEqual(
      plain(chunks).filter((chunk) => /^(?:source|file)/.test((chunk as { type: string }).type)),
      [
        { type: "source-url", sourceId: "0.1", url: "https://example.org/a", title: "A" },
        {
          type: "source-document",
          sourceId: "0.3",
          mediaType: "application/pdf",
          title: "c.pdf",
          filename: "c.pdf",
        },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,aW1n" },
      ],
    );
  });

  it("uses the run's id as the message's, and sends usage as metadata", async () => {
    const run = agentOf([{ content: [{ type: "text", text: "Hi." }], usage: { input: 3 } }]).stream(
      "Hello",
    );
    const chunks = await Array.fromAsync(toUIMessageStream(run));
    const { runId, usage } = await run.result();
    assert.deepEqual(chunks[0], { type: "start", messageId: runId });
    assert.deepEqual(chunks.at(-1), {
      type: "finish",
      finishReason: "stop",
      messageMetadata: { runId, reason: "done", usage },
    });
    assert.equal(usage.input, 3);
  });

  it("sends the states of a call: input, progress, output", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks",
      parameters: { type: "object", properties: { at: { type: "string" } } },
      execute: async function* () {
        yield "near";
        return { content: [{ type: "text", text: "far" }], details: { miles: 3 } };
      },
    });
    const agent = agentOf([{ content: [scriptedToolCall("look", { at: "sea" }, "c1")] }, "Done."], {
      tools: [look],
    });
    const toData: UIMessageStreamOptions["toData"] = ({ result, isPreliminary }) =>
      isPreliminary ? undefined : { name: "look", id: "1", data: result.details };
    const about = { toolCallId: "c1", dynamic: true };
    assert.deepEqual(plain(await read(agent, { toData })).slice(1, -6), [
      { type: "start-step" },
      { type: "tool-input-start", ...about, toolName: "look" },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '{"at":"sea"}' },
      { type: "tool-input-available", ...about, toolName: "look", input: { at: "sea" } },
      { type: "tool-output-available", ...about, output: "near", preliminary: true },
      { type: "tool-output-available", ...about, output: "far" },
      { type: "data-look", id: "1", data: { miles: 3 } },
      { type: "finish-step" },
    ]);
  });

  it("shows a call whose arguments are not JSON once, with an error and what the model wrote", async () => {
    const broken = {
      ...scriptedToolCall("look", {}, "c1"),
      argumentsText: '{"at":',
      argumentsError: "x",
    };
    const agent = agentOf([{ content: [broken] }, "Done."], { tools: [tool("look", () => "")] });
    const chunks = plain(await read(agent)).filter((chunk) => "toolCallId" in chunk);
    const about = { toolCallId: "c1", toolName: "look", dynamic: true };
    assert.deepEqual(chunks[0], { type: "tool-input-start", ...about });
    assert.deepEqual(chunks.at(-1), {
      type: "tool-input-error",
      ...about,
      input: '{"at":',
      errorText: "The tool was not run.",
    });
    assert.equal(
      new Set(chunks.map((chunk) => (chunk as { toolCallId: string }).toolCallId)).size,
      1,
    );
  });

  it("gives calls of later answers ids of their own when a server repeats an id", async () => {
    const call = { content: [scriptedToolCall("look", {}, "c1")] };
    const agent = agentOf([call, call, "Done."], { tools: [tool("look", () => "seen")] });
    const ends = (await read(agent)).filter(({ type }) => type === "tool-output-available");
    assert.deepEqual(
      ends.map((chunk) => "toolCallId" in chunk && chunk.toolCallId),
      ["c1", "c1#2"],
    );
  });

  it("sends images of results as content, and nothing for a name of data that is none", async () => {
    const content = [{ type: "image" as const, data: "iVBORw0K", mimeType: "image/png" }];
    const make = (): ReturnType<typeof agentOf> => {
      const look = { ...tool("look", () => ""), execute: () => Promise.resolve({ content }) };
      return agentOf([{ content: [scriptedToolCall("look", {}, "c1")] }, "Done."], {
        tools: [look],
      });
    };
    const end = (await read(make())).find(({ type }) => type === "tool-output-available");
    assert.deepEqual(end && "output" in end && end.output, content);
    await assert.rejects(
      read(make(), { toData: () => ({ name: "not a name", data: 1 }) }),
      /"not a name" is not a name/,
    );
  });

  it("sends neither thinking nor the text of errors unless asked", async () => {
    const secret = "sk-live-1234567890";
    const make = (): ReturnType<typeof agentOf> =>
      agentOf(
        [
          {
            content: [
              { type: "thinking", thinking: secret },
              scriptedToolCall("look", {}, "c1"),
              scriptedToolCall("gone", {}, "c2"),
            ],
          },
          { error: new BowlineError("server_error", secret) },
        ],
        {
          tools: [
            tool("look", () => {
              throw new Error(secret);
            }),
          ],
        },
      );
    const chunks = await read(make());
    assert.ok(!JSON.stringify(chunks).includes(secret));
    const texts = chunks.flatMap((chunk) => ("errorText" in chunk ? chunk.errorText : []));
    assert.deepEqual(texts.toSorted(), [
      "The answer failed (server_error).",
      "The tool failed.",
      "The tool was not run.",
    ]);
    const more = await read(make(), {
      reasoning: true,
      toErrorText: (failure) => (failure.kind === "run" ? failure.error.message : failure.text),
    });
    const shown = more.filter((chunk) => JSON.stringify(chunk).includes(secret));
    assert.deepEqual(
      shown.map(({ type }) => type),
      ["reasoning-delta", "tool-output-error", "error"],
    );
  });

  it("sends the metadata before an error, at which the client stops reading", async () => {
    const chunks = await read(agentOf([{ error: new BowlineError("rate_limited", "x") }]));
    assert.deepEqual(
      chunks.slice(-3).map(({ type }) => type),
      ["message-metadata", "error", "finish"],
    );
  });

  it("resets the step on a retraction and sends again what stays", async () => {
    const kept = text(0, "kept");
    const events: AssistantMessageEvent[] = [
      { type: "start", attempt: 1, api: "a", provider: "p", model: "m", timestamp: 0 },
      ...kept,
      ...text(1, "wrong"),
      {
        type: "message_retract",
        attempt: 1,
        contentIndex: 1,
        error: { code: "overloaded", message: "x", retryable: true },
      },
      ...text(1, "right"),
    ];
    const message = reduceEvents(events) as AssistantMessage;
    const done = { type: "done", attempt: 1, reason: "stop", message } as const;
    const agent = agentOf([], {
      streamFn: () => Readable.from([...events, done]),
    });
    const chunks = plain(await read(agent));
    assert.deepEqual(chunks.slice(8, -2), [
      { type: "reset-step" },
      { type: "text-start", id: "0.0" },
      { type: "text-delta", id: "0.0", delta: "kept" },
      { type: "text-end", id: "0.0" },
      { type: "text-start", id: "0.1" },
      { type: "text-delta", id: "0.1", delta: "right" },
      { type: "text-end", id: "0.1" },
    ]);
  });

  it("sends a message that was queued as a steering message between the steps", async () => {
    const agent = agentOf(["One.", "Two."]);
    agent.followUp({ role: "user", content: "And?", timestamp: 0 });
    const chunks = await read(agent);
    const types = chunks.map(({ type }) => type).filter((type) => !type.startsWith("text"));
    assert.deepEqual(types.slice(1, -1), [
      "start-step",
      "finish-step",
      "steering-message",
      "start-step",
      "finish-step",
    ]);
    const steering = chunks.find((chunk) => chunk.type === "steering-message");
    assert.deepEqual(steering?.parts, [{ type: "text", text: "And?" }]);
  });

  it("sends the label of what a program added to a queued message after it, and not its text", async () => {
    const agent = agentOf(["One.", "Two.", "Three."]);
    const note = { type: "text", text: "Plan.", shownAs: "a note" } as const;
    const said = { type: "text", text: "And?" } as const;
    agent.followUp({ role: "user", content: [note, said], timestamp: 0 });
    agent.followUp({ role: "user", content: [note], timestamp: 0 });
    const chunks = (await read(agent)).filter(
      ({ type }) => type === "steering-message" || type === "data-added",
    );
    const ids = chunks.map((chunk) => ("id" in chunk ? chunk.id : undefined));
    assert.equal(new Set(ids).size, chunks.length);
    const data = { label: "a note" };
    assert.deepEqual(
      chunks.map((chunk) => ({ ...chunk, id: "" })),
      [
        { type: "steering-message", id: "", parts: [said] },
        { type: "data-added", id: "", data },
        { type: "data-added", id: "", data },
      ],
    );
  });

  it("ends an aborted run as interrupted, with its calls settled", async () => {
    const agent = agentOf([{ content: [scriptedToolCall("wait", {}, "c1")] }], {
      tools: [
        tool("wait", async (signal) => {
          agent.abort();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return "";
        }),
      ],
      abortGraceMs: 10,
    });
    const chunks = plain(await read(agent));
    assert.deepEqual(chunks.slice(-2), [
      { type: "abort" },
      { type: "finish", finishReason: "interrupted" },
    ]);
  });

  it("keeps the text of a nested run out, and shows the call that needs approval", async () => {
    const inner = createScriptedModel([
      { content: [scriptedToolCall("sail", { to: "Oban" }, "c1")] },
      "nested text",
    ]);
    const helper = createAgentTool({
      name: "helper",
      description: "Helps",
      createAgent: () =>
        agentOf([], {
          model: inner.model,
          streamFn: inner.streamFn,
          tools: [tool("sail", () => "Sailed.")],
          beforeToolCall: requireApproval(),
        }) as never,
    });
    const agent = agentOf(
      [{ content: [scriptedToolCall("helper", { prompt: "Go" }, "c1")] }, "Done."],
      { tools: [helper] },
    );
    agent.subscribe((event) => {
      if (event.type === "approval_request") agent.answer(event.approvalId, { decision: "allow" });
    });
    const chunks = await read(agent, { toOutput: () => "shown" });
    assert.ok(!JSON.stringify(chunks).includes("nested text"));
    const ofNested = chunks.filter((chunk) => "toolCallId" in chunk && chunk.toolCallId === "c1#2");
    assert.deepEqual(
      ofNested.map(({ type }) => type),
      ["tool-input-available", "tool-approval-request", "tool-output-available"],
    );
  });

  it("rejects when the run ends without agent_end, and when an option throws", async () => {
    const cut = (async function* () {})();
    await assert.rejects(Array.fromAsync(toUIMessageStream(cut)), { code: "stream_truncated" });
    const agent = agentOf(["Hi."]);
    const run = agent.stream("Hello");
    const stream = toUIMessageStream(run, {
      toMetadata: () => {
        throw new RangeError("mine");
      },
    });
    await assert.rejects(Array.fromAsync(stream), RangeError);
    assert.equal((await run.result()).reason, "done");
  });

  it("rejects a reader that falls behind, and the run continues", async () => {
    const run = agentOf(["x".repeat(10_000)]).stream("Hello");
    const stream = toUIMessageStream(run, { maxHeldChunks: 5 });
    await run.result();
    await assert.rejects(Array.fromAsync(stream), { code: "reader_too_slow" });
    assert.throws(() => toUIMessageStream(run, { maxHeldChunks: 0 }), { code: "invalid_argument" });
  });
});

describe("toUIMessageResponse()", () => {
  it("sends the headers of the protocol, and [DONE] last", async () => {
    const run = agentOf(["Hi."]).stream("Hello");
    const response = toUIMessageResponse(run, { headers: { "x-run": "1" } });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
    assert.equal(response.headers.get("x-run"), "1");
    checkGrammar(await chunksOf(response));
  });

  it("sends comments during silence, and calls onCancel when the client leaves", async () => {
    const clock = new ManualClock();
    let isLeft = false;
    const agent = agentOf([() => new Promise<never>(() => {})], { abortGraceMs: 5 });
    const run = agent.stream("Hello");
    const onCancel = (): void => void (isLeft = true);
    const reader = toUIMessageResponse(run, { clock, onCancel }).body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    assert.match(first, /^data: \{"type":"start"/);
    const next = reader?.read();
    await settle();
    await clock.advance(15_000);
    assert.equal(new TextDecoder().decode((await next)?.value), ":\n\n");
    await reader?.cancel();
    assert.ok(isLeft);
    assert.ok(agent.state.isStreaming);
    agent.abort();
    await run.result();
  });

  it("leaves a run that it alone reads when the client goes before it has read anything", async () => {
    const more = deferred();
    const taken: string[] = [];
    let isLeft = false;
    const events = (async function* () {
      try {
        for await (const event of agentOf(["Hi."]).stream("Hello")) {
          taken.push(event.type);
          yield event;
          await more.promise;
        }
      } finally {
        isLeft = true;
      }
    })();
    const response = toUIMessageResponse(events);
    await settle();
    await response.body?.cancel();
    more.resolve();
    await settle();
    assert.deepEqual([isLeft, taken], [true, ["agent_start", "turn_start"]]);
  });
});
