/** The arguments of a tool's calls while they arrive. */
import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { z } from "zod";
import { Agent, defineTool, type AgentEvent, type AgentTool } from "../../src/index.ts";
import type { ToolCall } from "../../src/llm/message.ts";
import { toolCallsOf } from "../../src/llm/message.ts";
import {
  applyIncrement,
  partialArguments,
  type PartialArgumentsEvent,
} from "../../src/partial/index.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { code } from "../../../../test/support/error-code.ts";
import { loadRecordings, missing } from "../../../../test/support/recordings.ts";
import { decode } from "../providers/decode.ts";

const write = defineTool({
  name: "write",
  description: "Writes a file.",
  parameters: z.object({ path: z.string(), lines: z.coerce.number().max(9) }),
  execute: () => "Written.",
});

interface Followed {
  /** The copy of a reader of the events, by call. */
  readonly copies: Map<string, unknown>;
  readonly others: PartialArgumentsEvent[];
}

async function follow(events: AsyncIterable<PartialArgumentsEvent>): Promise<Followed> {
  const copies = new Map<string, unknown>();
  const others: PartialArgumentsEvent[] = [];
  for await (const event of events) {
    const { toolCallId: id } = event;
    if (event.type === "partial_arguments") copies.set(id, applyIncrement(copies.get(id), event));
    else others.push(event);
    if (event.type === "partial_reset") copies.delete(id);
  }
  return { copies, others };
}

/** The events of one answer, as a run emits them. */
async function* answer(...events: readonly object[]): AsyncGenerator<AgentEvent> {
  for (const event of events) {
    const type = "message_update";
    yield { type, runId: "r", seq: 0, assistantMessageEvent: event } as unknown as AgentEvent;
  }
}

const any: AgentTool = defineTool({
  name: "any",
  description: "",
  parameters: { type: "object" },
  execute: () => "",
});
const start = { type: "toolcall_start", contentIndex: 0, id: "1", name: "any" };
const delta = (text: string): object => ({ type: "toolcall_delta", contentIndex: 0, delta: text });
const end = (toolCall: Partial<ToolCall>): object => ({
  type: "toolcall_end",
  contentIndex: 0,
  toolCall: { type: "toolCall", id: "1", name: "any", arguments: {}, ...toolCall },
});

describe("the arguments of a tool's calls", () => {
  it("grow and end checked, each with the id of its call", async () => {
    const script = createScriptedModel(
      [
        {
          content: [
            scriptedToolCall("write", { path: "a.txt", lines: "3" }, "1"),
            scriptedToolCall("other", { path: "b.txt" }, "2"),
            scriptedToolCall("write", { path: "c.txt", lines: 12 }, "3"),
          ],
        },
        "Done.",
      ],
      { deltaLength: 2 },
    );
    const agent = new Agent({ model: script.model, tools: [write], streamFn: script.streamFn });
    const run = agent.stream("Write");
    const paths = new Set<string | undefined>();
    for await (const event of partialArguments(run, write))
      if (event.type === "partial_arguments") paths.add(event.partial?.path);
    assert.ok(paths.has("a.t") || paths.has("a."));
    const { copies, others } = await follow(partialArguments(run, write));
    assert.deepEqual(
      [...copies],
      [
        ["1", { path: "a.txt", lines: "3" }],
        ["3", { path: "c.txt", lines: 12 }],
      ],
    );
    const [first, second, ...rest] = others;
    assert.deepEqual(first, {
      type: "partial_end",
      toolCallId: "1",
      arguments: { path: "a.txt", lines: 3 },
    });
    assert.ok(second?.type === "partial_end" && second.toolCallId === "3");
    assert.match(second.message ?? "", /lines: .*9/);
    assert.deepEqual(rest, []);
  });

  it("stop when they are not JSON, with the error of the call", async () => {
    const broken = answer(
      start,
      delta('{"a":tru'),
      delta('y,"b":1}'),
      end({ argumentsError: "Not JSON." }),
    );
    const { copies, others } = await follow(partialArguments(broken, any));
    assert.deepEqual(copies.get("1"), {});
    assert.deepEqual(
      others.map(({ type }) => type),
      ["partial_stopped", "partial_end"],
    );
    assert.deepEqual(others[1], { type: "partial_end", toolCallId: "1", message: "Not JSON." });
  });

  it("are those of the call where the server's pieces say something else", async () => {
    const args = { a: { b: [1] } };
    const twice = JSON.stringify(JSON.stringify(args));
    for (const [text, resets] of [
      [twice, 1],
      ["", 0],
      ['{"a":1}', 1],
      ['{"a":{"b":[1]}}', 0],
      ['{"a":{"b":[1]}}</tool_call>', 0],
    ] as const) {
      const events = answer(start, delta(text), end({ arguments: args }));
      const { copies, others } = await follow(partialArguments(events, any));
      assert.deepEqual(copies.get("1"), args);
      assert.equal(others.filter(({ type }) => type === "partial_reset").length, resets, text);
    }
  });

  it("are withdrawn with their answer, and stop when it is cut", async () => {
    const other = { ...start, contentIndex: 1, id: "2" };
    const retract = { type: "message_retract", contentIndex: 1 };
    const late = { type: "toolcall_delta", contentIndex: 1, delta: '{"a":1' };
    const events = answer(start, delta('{"a":1'), other, late, retract, late, delta("2}"));
    const { copies, others } = await follow(partialArguments(events, any));
    assert.deepEqual([...copies], [["1", { a: 12 }]]);
    assert.deepEqual(others, [{ type: "partial_reset", toolCallId: "2", reason: "retracted" }]);
    async function* cut(): AsyncGenerator<AgentEvent> {
      yield* answer(start, delta('{"a":1'));
      const message = { role: "assistant", content: [] };
      yield { type: "message_end", runId: "r", seq: 0, message } as unknown as AgentEvent;
    }
    assert.deepEqual((await follow(partialArguments(cut(), any))).others, [
      {
        type: "partial_stopped",
        toolCallId: "1",
        message: "The answer ended before the call was complete.",
      },
    ]);
  });

  it("cannot be followed without a schema", () => {
    assert.throws(
      () => partialArguments(answer(), { name: "a", parameters: 5 }),
      code("invalid_argument"),
    );
  });
});

describe("the recordings", { skip: missing ?? false }, () => {
  for (const protocol of [openaiChat, anthropicMessages, openaiResponses, googleGenerate])
    it(`of ${protocol.api} have calls that end as their arguments`, async (context) => {
      const counts = { calls: 0, resets: 0 };
      for (const { file, body } of loadRecordings(protocol.api)) {
        const { events, message } = decode(protocol, [body]);
        const calls = toolCallsOf(message);
        for (const name of new Set(calls.map((one) => one.name))) {
          const { copies, others } = await follow(
            partialArguments(answer(...events), { name, parameters: { type: "object" } }),
          );
          counts.resets += others.filter(({ type }) => type === "partial_reset").length;
          for (const { id, arguments: args, argumentsError } of calls.filter(
            (one) => one.name === name,
          )) {
            counts.calls++;
            if (argumentsError === undefined) assert.deepEqual(copies.get(id), args, file);
            else
              assert.ok(
                others.some(
                  ({ type, toolCallId }) => type === "partial_stopped" && toolCallId === id,
                ),
                file,
              );
          }
        }
      }
      context.diagnostic(`${counts.calls} calls, ${counts.resets} that the server sent otherwise`);
      assert.ok(counts.calls > 0);
    });
});

if (missing !== undefined) test("the recordings are present", (t) => t.skip(missing));
