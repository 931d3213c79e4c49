/** Invariant 1 and the rules of the servers: whatever a transcript holds, each wire makes a request that is accepted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Context, Message } from "../src/llm/message.ts";
import type { Model, StreamOptions } from "../src/llm/model.ts";
import { anthropicMessages } from "../src/providers/anthropic-messages/index.ts";
import { openaiChat } from "../src/providers/openai-chat/index.ts";
import type { Protocol } from "../src/providers/protocol.ts";
import { checkChatRequest, checkMessagesRequest } from "../src/testing/index.ts";
import { contexts, models, options } from "./transcripts.ts";

const RUNS = 2000;

interface Wire {
  readonly protocol: Protocol;
  readonly provider: string;
  readonly check: (body: unknown) => string[];
}

const wires: readonly Wire[] = [
  { protocol: openaiChat, provider: "openai", check: checkChatRequest },
  { protocol: anthropicMessages, provider: "anthropic", check: checkMessagesRequest },
];

interface Call {
  readonly model: Model;
  readonly context: Context;
  readonly options: StreamOptions;
}

for (const { protocol, provider, check } of wires) {
  describe(`${protocol.api} requests`, () => {
    const asked: fc.Arbitrary<Call> = models(provider, "m").chain((model) =>
      fc.record({ model: fc.constant(model), context: contexts(model), options }),
    );
    /** The body as the server reads it. */
    const body = ({ model, context, options: chosen }: Call): Record<string, unknown> =>
      JSON.parse(JSON.stringify(protocol.encode(model, context, chosen).body)) as Record<string, unknown>;
    const property = (test1: (call: Call) => void): void =>
      fc.assert(fc.property(asked, test1), { numRuns: RUNS, seed: 20261121 });

    test("are accepted by a strict server, whatever the transcript holds", () => {
      property((call) => assert.deepEqual(check(body(call)), []));
    });

    test("leave the transcript as it is", () => {
      property((call) => {
        const before = JSON.stringify(call.context);
        body(call);
        assert.equal(JSON.stringify(call.context), before);
      });
    });

    test("are the same for the same transcript", () => {
      property((call) => assert.deepEqual(body(call), body(structuredClone(call))));
    });
  });
}
void (0 as unknown as Message);
