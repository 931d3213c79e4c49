/**
 * Random transcripts with answers of this wire among the common ones, for the property test of the
 * encoder.
 */
import * as fc from "fast-check";
import type {
  AssistantContent,
  AssistantMessage,
  Context,
  Message,
} from "../../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../../src/llm/model.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import {
  contexts as anyContexts,
  models as anyModels,
  options as anyOptions,
  texts,
} from "../transcripts.ts";

export const ownModel: Model = getModel("openai", "m", { api: "openai-responses" });

const signatures = fc.constantFrom(
  undefined,
  "",
  "garbage",
  "null",
  "7",
  "{}",
  '{"id":"rs_1"}',
  '{"id":"rs_1","encrypted_content":"E"}',
  '{"id":7,"encrypted_content":7,"phase":7,"annotations":7}',
  '{"id":"msg_1","phase":"commentary","annotations":[{"type":"url_citation","title":"half \\ud83d"}]}',
  '{"id":"fc_1","caller":{"type":"program","caller_id":"call_0"},"namespace":"n"}',
);
const callIds = fc.constantFrom("c1", "c2", "c3");
const raw: fc.Arbitrary<unknown> = fc.oneof(
  callIds.map((call_id) => ({ type: "custom_tool_call", call_id, name: "sql", input: "" })),
  callIds.map((call_id) => ({ type: "shell_call", call_id, action: {} })),
  callIds.map((call_id) => ({ type: "shell_call_output", call_id, output: [] })),
  fc.constantFrom(
    { type: "web_search_call", id: "ws_1", status: "completed" },
    { type: "tool_search_call", call_id: null, execution: "server" },
    { type: "compaction", encrypted_content: "E" },
    { no: "type" },
    { type: 7 },
    null,
    "text",
  ),
);
const part: fc.Arbitrary<AssistantContent> = fc.oneof<fc.WeightedArbitrary<AssistantContent>[]>(
  {
    weight: 2,
    arbitrary: fc.record({ text: texts, signature: signatures }).map(({ text, signature }) => ({
      type: "text",
      text,
      ...(signature !== undefined && { textSignature: signature }),
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        text: texts,
        signature: signatures,
        field: fc.constantFrom("summary_text", "reasoning_text", undefined),
      })
      .map(({ text, signature, field }) => ({
        type: "thinking",
        thinking: text,
        ...(field !== undefined && { field }),
        ...(signature !== undefined && { thinkingSignature: signature }),
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ id: fc.constantFrom("call_1", "call_2"), signature: signatures })
      .map(({ id, signature }) => ({
        type: "toolCall",
        id,
        name: "read",
        arguments: {},
        ...(signature !== undefined && { thoughtSignature: signature }),
      })),
  },
  {
    weight: 2,
    arbitrary: raw.map((value) => ({ type: "opaque", protocol: "openai-responses", raw: value })),
  },
);
const own: fc.Arbitrary<AssistantMessage> = fc
  .record({
    content: fc.array(part, { maxLength: 6 }),
    model: fc.constantFrom("m", "m", "other"),
    stopReason: fc.constantFrom("stop", "toolUse", "length", "error", "aborted"),
  })
  .map(({ content, model, stopReason }) => ({
    role: "assistant",
    content,
    api: "openai-responses",
    provider: "openai",
    model,
    usage: {},
    stopReason,
    timestamp: 0,
  }));

/** Any context, with answers of this wire inserted between its messages. */
export const contexts: fc.Arbitrary<Context> = fc
  .record({
    context: anyContexts(ownModel),
    answers: fc.array(fc.tuple(fc.nat(8), own), { maxLength: 4 }),
  })
  .map(({ context, answers }) => {
    const messages: Message[] = [...context.messages];
    for (const [at, answer] of answers)
      messages.splice(Math.min(at, messages.length - 1), 0, answer);
    return { ...context, messages };
  });

export const models: fc.Arbitrary<Model> = anyModels("openai", "m").map((model) => ({
  ...model,
  api: "openai-responses",
}));

export const options: fc.Arbitrary<StreamOptions> = anyOptions;
