/** Invariant 1 and the servers' rules: each wire makes an accepted request from any transcript. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { toolCallsOf, type Context, type Message, type ToolCall } from "../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../src/llm/model.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { openaiChat, openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { checkChatRequest, checkMessagesRequest } from "../../src/testing/index.ts";
import { contexts, models, options } from "./transcripts.ts";
import { asRead } from "../support.ts";
import { sweep, sweepSeed } from "../../../../test/support/sweep.ts";

const RUNS = sweep({ long: 1000, short: 150, variable: "BOWLINE_REQUEST_RUNS" });

type Json = Record<string, unknown>;

interface Wire {
  readonly name: string;
  readonly protocol: Protocol;
  readonly provider: string;
  readonly check: (body: unknown) => string[];
  /** Each call's arguments with the text of its result, in order. */
  readonly pairs: (body: Json) => [args: Json, result: string][];
}

interface Asked {
  readonly model: Model;
  readonly context: Context;
  readonly options: StreamOptions;
}

const wires: readonly Wire[] = [
  {
    name: "openai-chat",
    protocol: openaiChat,
    provider: "openai",
    check: checkChatRequest,
    pairs: chatPairs,
  },
  {
    name: "openai-chat in dialects",
    protocol: openaiCompatible,
    provider: "openai",
    check: checkChatRequest,
    pairs: chatPairs,
  },
  {
    name: "anthropic-messages",
    protocol: anthropicMessages,
    provider: "anthropic",
    check: checkMessagesRequest,
    pairs: messagesPairs,
  },
];

for (const { name, protocol, provider, check, pairs } of wires) {
  describe(`${name} requests`, () => {
    const asked: fc.Arbitrary<Asked> = models(provider, "m")
      .chain((model) => fc.record({ model: fc.constant(model), context: contexts(model), options }))
      .filter(isFair);
    /** The body as the server parses it. */
    const body = ({ model, context, options: chosen }: Asked): Json =>
      asRead(protocol.encode(model, context, chosen).body);
    const forAll = (check1: (one: Asked) => void): void =>
      fc.assert(fc.property(asked, check1), { numRuns: RUNS, ...sweepSeed(20261121) });

    test("are accepted by a strict server, for any transcript", () => {
      forAll((one) => {
        const sent = body(one);
        const { noStreaming = false, replayReasoning = false } = one.model.compat ?? {};
        // A server that requires unsigned thinking checks no signature.
        const isMeant = (problem: string): boolean =>
          replayReasoning && problem.endsWith(".signature must not be blank");
        assert.deepEqual(
          check(sent).filter((problem) => !isMeant(problem)),
          [],
        );
        assert.equal("stream" in sent, protocol === openaiChat || !noStreaming);
      });
    });

    test("give each call only its own recorded result", () => {
      forAll((one) => {
        const messages = numbered(one.context.messages);
        const used = new Set<number>();
        for (const [{ at }, text] of pairs(
          body({ ...one, context: { ...one.context, messages } }),
        )) {
          const [index, part] = at as [number, number];
          const call = (messages[index] as { content: unknown[] }).content[part] as ToolCall;
          const [, number] = /^#(\d+)/.exec(text) ?? [];
          if (number === undefined) continue; // generated for a call without a result
          const result = messages[Number(number)];
          assert.equal(result?.role === "toolResult" && result.toolCallId, call.id);
          assert.ok(
            Number(number) > index,
            `the result at ${number} was recorded before the call at ${index}`,
          );
          const between = messages.slice(index + 1, Number(number));
          assert.ok(
            !between.some((message) => calls(message, call.id)),
            `the result at ${number} is of a later call`,
          );
          assert.ok(!used.has(Number(number)), `the result at ${number} goes to two calls`);
          used.add(Number(number));
        }
      });
    });

    test("leave the transcript unchanged", () => {
      forAll((one) => {
        const before = JSON.stringify(one.context);
        body(one);
        assert.equal(JSON.stringify(one.context), before);
      });
    });

    test("begin alike when the transcript grows, so that a server's cache stays valid", () => {
      forAll((one) => {
        const { messages } = one.context;
        const more: Message[] = [...messages, { role: "user", content: "And now?", timestamp: 0 }];
        const grown = body({ ...one, context: { ...one.context, messages: more } })
          .messages as Json[];
        const before = body(one).messages as Json[];
        assert.deepEqual(
          uncached(grown.slice(0, before.length - 1)),
          uncached(before.slice(0, -1)),
        );
      });
    });
  });
}

/** Excludes a tool choice that names an unknown tool, which is the caller's mistake. */
function isFair({ context, options: { toolChoice } }: Asked): boolean {
  return (
    typeof toolChoice !== "object" ||
    (context.tools ?? []).some(({ name }) => name === toolChoice.name)
  );
}

/**
 * The transcript with each call and result marked by its index, so that a pair can be recognised on
 * the wire.
 */
function numbered(messages: readonly Message[]): Message[] {
  return messages.map((message, index): Message => {
    if (message.role === "toolResult")
      return { ...message, content: [{ type: "text", text: `#${index}` }] };
    if (message.role === "user") return message;
    const content = message.content.map((part, at) => {
      if (part.type !== "toolCall") return part;
      const { argumentsError: _, ...call } = part;
      return {
        ...call,
        arguments: { at: [index, at] },
        argumentsText: JSON.stringify({ at: [index, at] }),
      };
    });
    return { ...message, content };
  });
}

function calls(message: Message, id: string): boolean {
  return message.role === "assistant" && toolCallsOf(message).some((call) => call.id === id);
}

function chatPairs(body: Json): [Json, string][] {
  const messages = body.messages as Json[];
  return messages.flatMap((message, index) =>
    ((message.tool_calls ?? []) as { function: { arguments: string } }[]).map(
      (call, at): [Json, string] => [
        JSON.parse(call.function.arguments) as Json,
        String(messages[index + 1 + at]?.content),
      ],
    ),
  );
}

function messagesPairs(body: Json): [Json, string][] {
  const messages = body.messages as { content: Json[] }[];
  return messages.flatMap(({ content }, index) =>
    content
      .filter((block) => block.type === "tool_use")
      .map((call, at): [Json, string] => {
        const [part] = (messages[index + 1]?.content[at]?.content ?? []) as { text: string }[];
        return [call.input as Json, part?.text ?? ""];
      }),
  );
}

/**
 * Removes cache marks: they move as the transcript grows, and are not part of the cached prompt.
 */
function uncached(messages: readonly Json[]): unknown {
  return JSON.parse(
    JSON.stringify(messages, (key, value: unknown) =>
      key === "cache_control" ? undefined : value,
    ),
  );
}
