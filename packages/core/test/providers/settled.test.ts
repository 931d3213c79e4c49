/** An encoded part of a transcript is reused only while encoding it again would give the same. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { toolCallsOf, type Context, type Message } from "../../src/llm/message.ts";
import type { Compat, Model, StreamOptions } from "../../src/llm/model.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat, openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { createStreamFn } from "../../src/providers/stream.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { toWireJson } from "../../src/providers/wire-json.ts";
import { contexts, models, options, transcripts } from "./transcripts.ts";
import { sweep, sweepSeed } from "../../../../test/support/sweep.ts";

const RUNS = sweep({ long: 300, short: 40, variable: "BOWLINE_REQUEST_RUNS" });

const wires: Readonly<Record<string, Protocol>> = {
  "openai-chat": openaiChat,
  "openai-chat in dialects": openaiCompatible,
  "anthropic-messages": anthropicMessages,
  "openai-responses": openaiResponses,
  "google-generate": googleGenerate,
};

const system = {
  systemPrompt: "Be brief.",
  tools: [{ name: "read", description: "Reads.", parameters: {} }],
};

/** A wire, and the number of messages that each request encodes anew after cached ones. */
function rig(protocol: Protocol): {
  ask: (model: Model, context: Context, chosen?: StreamOptions) => Promise<string>;
  rests: number[];
} {
  const rests: number[] = [];
  const streamFn = createStreamFn({
    ...protocol,
    encode(model, context, chosen, continued) {
      // The cached part is encoded without tools.
      if (continued === true && context.tools !== undefined) rests.push(context.messages.length);
      return protocol.encode(model, context, chosen, continued);
    },
  });
  return { ask, rests };

  /** The body as it is sent; empty for a context that cannot be sent. */
  async function ask(model: Model, context: Context, chosen: StreamOptions = {}): Promise<string> {
    let body = "";
    const fetch: typeof globalThis.fetch = (_, init) => {
      body = init?.body as string;
      return Promise.resolve(new Response("{}", { status: 400 }));
    };
    await streamFn(model, context, { ...chosen, fetch, maxRetries: 0 }).result();
    return body;
  }
}

/** The body of a request without earlier requests. */
function fresh(
  protocol: Protocol,
  model: Model,
  context: Context,
  chosen: StreamOptions = {},
): string {
  try {
    return toWireJson(protocol.encode(model, context, chosen).body);
  } catch {
    return "";
  }
}

function turn(index: number): Message[] {
  const id = `call_${index}`;
  const origin = { api: "openai-chat", provider: "openai", model: "m", usage: {}, timestamp: 0 };
  return [
    {
      role: "assistant",
      content: [{ type: "toolCall", id, name: "read", arguments: { path: ["a", { b: index }] } }],
      stopReason: "toolUse",
      ...origin,
    },
    {
      role: "toolResult",
      toolCallId: id,
      toolName: "read",
      content: [text(`r${index}`)],
      isError: false,
      timestamp: 0,
    },
  ];
}

function text(said: string): { type: "text"; text: string } {
  return { type: "text", text: said };
}

function conversation(turns: number): Message[] {
  const opening: Message = { role: "user", content: "Read it all.", timestamp: 0 };
  return [opening, ...Array.from({ length: turns }, (_, index) => turn(index)).flat()];
}

describe("a transcript that grows turn by turn", () => {
  for (const [name, protocol] of Object.entries(wires)) {
    test(`is encoded once on the wire ${name}`, async () => {
      const { ask, rests } = rig(protocol);
      const model = getModel("openai", "m", { api: protocol.api });
      const messages = conversation(20);
      for (const { role, content } of messages.slice(10))
        if (role === "assistant") content.unshift(text("I read on."));
      for (let length = 1; length <= messages.length; length += 2) {
        const context = { ...system, messages: messages.slice(0, length) };
        assert.equal(await ask(model, context), fresh(protocol, model, context));
      }
      // The first two requests have no complete turn yet; the third is the first that can be
      // reused.
      assert.deepEqual(
        rests,
        Array.from({ length: 19 }, () => 2),
      );
    });
  }

  test("is encoded once even if every request gets copies of all messages but the first", async () => {
    const { ask, rests } = rig(openaiChat);
    const model = getModel("openai", "m");
    const messages = conversation(10);
    for (let length = 1; length <= messages.length; length += 2) {
      const [first, ...others] = messages.slice(0, length);
      const context = { ...system, messages: [first as Message, ...structuredClone(others)] };
      assert.equal(await ask(model, context), fresh(openaiChat, model, context));
    }
    assert.deepEqual(
      rests,
      Array.from({ length: 9 }, () => 2),
    );
  });

  test("is not cached if it has a large file, of which the cached text would be a copy", async () => {
    const { ask, rests } = rig(openaiChat);
    const model = getModel("openai", "m");
    const part = {
      type: "file",
      mimeType: "application/pdf",
      data: "A".repeat(1_000_004),
    } as const;
    const opening: Message = { role: "user", content: [part], timestamp: 0 };
    const messages = [opening, ...conversation(10).slice(1)];
    for (let length = 1; length <= messages.length; length += 2) {
      const context = { ...system, messages: messages.slice(0, length) };
      assert.equal(await ask(model, context), fresh(openaiChat, model, context));
    }
    assert.deepEqual(rests, []);
  });

  test("is encoded again for a hook that sees the body", async () => {
    const { ask, rests } = rig(openaiChat);
    const model = getModel("openai", "m");
    const messages = conversation(10);
    const shown: unknown[] = [];
    for (let length = 1; length <= messages.length; length += 2) {
      const context = { ...system, messages: messages.slice(0, length) };
      const sent = await ask(model, context, {
        onPayload: (body) => void shown.push(structuredClone(body)),
      });
      assert.equal(sent, fresh(openaiChat, model, context));
      assert.equal(JSON.stringify(shown.at(-1)), sent);
    }
    assert.deepEqual(rests, []);
  });

  test("is encoded again for a caller with a message list of its own", async () => {
    const { ask, rests } = rig(openaiChat);
    const model = getModel("openai", "m");
    const messages = conversation(10);
    const own = [{ role: "user", content: "Only this." }];
    for (let length = 1; length <= messages.length; length += 2) {
      const sent = await ask(
        model,
        { ...system, messages: messages.slice(0, length) },
        { extraBody: { messages: own } },
      );
      assert.deepEqual((JSON.parse(sent) as { messages: unknown }).messages, own);
    }
    assert.deepEqual(rests, []);
  });

  test("is sent with the caller's extra fields, well-formed like everything else", async () => {
    const { ask, rests } = rig(openaiChat);
    const model = getModel("openai", "m");
    const messages = conversation(5);
    for (let length = 1; length <= messages.length; length += 2) {
      const context = { ...system, messages: messages.slice(0, length) };
      const sent = await ask(model, context, { extraBody: { "own \ud83d": "\ude00" } });
      assert.equal(sent, `${fresh(openaiChat, model, context).slice(0, -1)},"own �":"�"}`);
    }
    assert.equal(rests.length, 4);
  });

  test("is encoded again when the server starts to store its items, whose ids are then sent", async () => {
    const { ask } = rig(openaiResponses);
    const model = getModel("openai", "m", { api: openaiResponses.api });
    const signed = (message: Message, index: number): Message =>
      message.role !== "assistant"
        ? message
        : {
            ...message,
            api: model.api,
            content: message.content.map((part) => ({
              ...part,
              thoughtSignature: JSON.stringify({ id: `fc_${index}` }),
            })),
          };
    const messages = conversation(10).map(signed);
    for (let length = 1; length <= messages.length; length += 2) {
      const context = { ...system, messages: messages.slice(0, length) };
      const extraBody = { store: length > 15 };
      const sent = await ask(model, context, { extraBody });
      assert.equal(sent.includes("fc_1"), length > 15);
      assert.equal(sent.split("fc_").length - 1, length > 15 ? (length - 1) / 2 : 0);
    }
  });

  test("is encoded again without tools, because a wire may declare the tools that were called", async () => {
    const { ask, rests } = rig(anthropicMessages);
    const model = getModel("anthropic", "m");
    const messages = conversation(10);
    for (let length = 1; length <= messages.length; length += 2) {
      const context = { messages: messages.slice(0, length), tools: [] };
      const sent = await ask(model, context);
      assert.equal(sent, fresh(anthropicMessages, model, context));
      assert.equal("tools" in (JSON.parse(sent) as object), length > 1);
    }
    assert.deepEqual(rests, []);
  });

  test("is encoded again from a turn that was cut meanwhile", async () => {
    const { ask } = rig(anthropicMessages);
    const model = getModel("anthropic", "m");
    const messages = conversation(4);
    for (const length of [3, 5, 7])
      await ask(model, { ...system, messages: messages.slice(0, length) });
    const unanswered = { ...system, messages: messages.slice(0, 8) };
    await ask(model, unanswered);
    Object.assign(messages[7] as Message, { stopReason: "aborted" });
    assert.equal(await ask(model, unanswered), fresh(anthropicMessages, model, unanswered));
    messages.splice(
      8,
      1,
      { role: "user", content: "Go on.", timestamp: 0 },
      ...turn(7),
      ...turn(8),
    );
    assert.equal(
      await ask(model, { ...system, messages }),
      fresh(anthropicMessages, model, { ...system, messages }),
    );
  });

  test("is encoded again from a provider's own block, which the next message may invalidate", async () => {
    const { ask } = rig(anthropicMessages);
    const model = getModel("anthropic", "m");
    const messages = conversation(4);
    const raw = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const searching = messages[3] as Message & { role: "assistant" };
    Object.assign(searching, { api: model.api, provider: model.provider, model: model.id });
    searching.content.unshift({ type: "opaque", protocol: "anthropic-messages", raw });
    for (const length of [3, 5, 7, 9]) {
      const context = { ...system, messages: messages.slice(0, length) };
      const sent = await ask(model, context);
      assert.equal(sent, fresh(anthropicMessages, model, context));
      assert.equal(sent.includes("srvtoolu_1"), length >= 5);
    }
    messages.push({ role: "user", content: "And now?", timestamp: 0 });
    const sent = await ask(model, { ...system, messages });
    assert.equal(sent, fresh(anthropicMessages, model, { ...system, messages }));
    assert.ok(!sent.includes("srvtoolu_1"));
  });

  test("is encoded again from a call whose result comes late", async () => {
    const { ask } = rig(openaiChat);
    const model = getModel("openai", "m");
    const messages = conversation(4);
    const late = messages[4] as Message;
    messages[4] = { ...late, toolCallId: "call_9" } as Message;
    for (const length of [3, 5, 7, 9])
      await ask(model, { ...system, messages: messages.slice(0, length) });
    messages.push(late);
    const sent = await ask(model, { ...system, messages });
    assert.equal(sent, fresh(openaiChat, model, { ...system, messages }));
    assert.ok(sent.includes('"r1"'));
  });

  test("is encoded again when values stay and only their places change", async () => {
    const model = getModel("openai", "m");
    const places: [before: Record<string, unknown>, after: Record<string, unknown>][] = [
      [{ x: [["a"], "b"] }, { x: ["a"], b: [] }],
      [{ x: { a: "b" } }, { x: "a", b: {} }],
      [{ x: "a" }, { y: "a" }],
    ];
    for (const [before, after] of places) {
      const { ask } = rig(openaiChat);
      const messages = conversation(3);
      const [call] = toolCallsOf(messages[1] as Message & { role: "assistant" });
      if (call) call.arguments = before;
      for (const length of [3, 5, 7])
        await ask(model, { ...system, messages: messages.slice(0, length) });
      if (call) call.arguments = after;
      assert.equal(
        await ask(model, { ...system, messages }),
        fresh(openaiChat, model, { ...system, messages }),
      );
    }
    const { ask } = rig(anthropicMessages);
    const messages = conversation(3);
    const { isError: _, ...result } = { ...(messages[2] as Message & { role: "toolResult" }) };
    messages[2] = { ...result, isError: false };
    for (const length of [3, 5, 7])
      await ask(model, { ...system, messages: messages.slice(0, length) });
    messages[2] = result as Message;
    messages[3] = { isError: false, ...messages[3] } as Message;
    const sent = await ask(model, { ...system, messages });
    assert.equal(sent, fresh(anthropicMessages, model, { ...system, messages }));
  });

  test("is encoded again when an id repeats, or would repeat for the server", async () => {
    const model = getModel("openai", "m");
    for (const [ids, silent] of [
      [["a_b", "a.b", "c"], -1],
      [["a", "a", "b", "a_2", "c"], 1],
    ] as const) {
      const { ask } = rig(openaiChat);
      const messages = conversation(0);
      for (const [index, id] of ids.entries()) {
        const [answer, result] = structuredClone(turn(index)) as [
          Message & { role: "assistant" },
          Message,
        ];
        for (const call of toolCallsOf(answer)) call.id = id;
        messages.push(answer, { ...result, toolCallId: id } as Message);
        if (index === silent) continue;
        const context = { ...system, messages: [...messages] };
        assert.equal(await ask(model, context), fresh(openaiChat, model, context));
      }
    }
  });

  test("is not cached when it changes with every request", async () => {
    const { ask, rests } = rig(openaiChat);
    const model = getModel("openai", "m");
    const messages = conversation(20);
    for (let length = 1; length <= messages.length; length += 2) {
      messages[1] = { ...messages[1], content: [text(`Version ${length}.`)] } as Message;
      const context = { ...system, messages: messages.slice(0, length) };
      assert.equal(await ask(model, context), fresh(openaiChat, model, context));
    }
    assert.ok(rests.length <= 1, `${rests.length} times`);
  });
});

const rarely = fc.integer({ min: 0, max: 4 }).map((number) => number === 0);

/**
 * A conversation of plain turns with random messages between them. Unless `isWild`, each call has a
 * unique id and its own result.
 */
function grown(model: Model): fc.Arbitrary<Message[]> {
  const piece = fc.record({ turns: fc.nat(4), between: transcripts(model), isWild: rarely });
  return fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => {
    let calls = 0;
    const plain = (count: number): Message[] =>
      Array.from({ length: count }, () => turn(++calls)).flat();
    return [
      ...conversation(0),
      ...pieces.flatMap(({ turns, between, isWild }) => [
        ...plain(turns),
        ...(isWild ? between : tidy(between)),
      ]),
      ...plain(2),
    ];

    function tidy(messages: Message[]): Message[] {
      return structuredClone(messages).flatMap((message): Message[] => {
        if (message.role !== "assistant") return message.role === "toolResult" ? [] : [message];
        message.content = message.content.filter(({ type }) => type !== "opaque");
        const results = toolCallsOf(message).map((call, index) => {
          call.id = `call_${++calls}`;
          return { ...(turn(calls)[1] as Message), isError: index > 0 };
        });
        return [message, ...results];
      });
    }
  });
}

interface Step {
  /** The length of the conversation in this request, from 0 to 1. */
  readonly to: number;
  /** The value that is changed before the request, and its new value; undefined for no change. */
  readonly edit: { readonly at: number; readonly to: string } | undefined;
  /** Whether the caller passes copies. */
  readonly copied: boolean;
  /** Whether another model is asked, or the prompt differs. */
  readonly asks: "the model" | "another" | "under another prompt";
}

const steps: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record({
      to: fc.integer({ min: 1, max: 50 }).map((part) => part / 50),
      edit: fc.option(
        fc.record({ at: fc.nat(), to: fc.constantFrom("", " ", "x", "\ud83d", "call_1", "error") }),
        {
          nil: undefined,
          freq: 6,
        },
      ),
      copied: fc.boolean(),
      asks: fc
        .nat(20)
        .map((number) => (["another", "under another prompt"] as const)[number] ?? "the model"),
    }),
    { minLength: 3, maxLength: 10 },
  )
  .map((all) => all.toSorted((a, b) => a.to - b.to));

/** Changes one nested value in place. */
function edit(messages: readonly Message[], { at, to }: NonNullable<Step["edit"]>): void {
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const find = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner !== "object" && key !== "role" && key !== "type")
        places.push([value as never, key]);
      find(inner);
    }
  };
  find(messages);
  const [holder, key] = places[at % Math.max(places.length, 1)] ?? [{}, ""];
  const value = holder[key];
  if (typeof value === "boolean") holder[key] = !value;
  else if (to === "" && typeof value !== "string") delete holder[key];
  else holder[key] = typeof value === "number" ? value + 1 : to;
}

for (const [name, protocol] of Object.entries(wires)) {
  test(`requests on the wire ${name} equal those of a client without a cache, however the transcript is edited`, async () => {
    let known = 0;
    const plan = fc
      .tuple(models("openai", "m"), rarely)
      .chain(([{ compat, ...rest }, isNumbered]) => {
        const { callIdDigits: _, ...others }: Compat = compat ?? {};
        const model: Model = {
          ...rest,
          api: protocol.api,
          compat: isNumbered ? { ...compat } : others,
        };
        return fc.record({
          model: fc.constant(model),
          context: contexts(model),
          messages: grown(model),
          chosen: options,
          steps,
        });
      });
    await fc.assert(
      fc.asyncProperty(plan, async ({ model, context, messages: drawn, chosen, steps: all }) => {
        const { ask, rests } = rig(protocol);
        const messages = structuredClone(drawn); // they are edited
        for (const { to, edit: change, copied, asks } of all) {
          const here = messages.slice(0, Math.ceil(to * messages.length));
          if (change) edit(here, change);
          const [first, ...others] = here;
          const shown = copied && first ? [first, ...structuredClone(others)] : here;
          const tools = context.tools?.length ? context.tools : system.tools;
          const { systemPrompt = "" } = context;
          const prompt = asks === "under another prompt" ? `${systemPrompt}!` : systemPrompt;
          const asked = { systemPrompt: prompt, tools, messages: shown };
          const target = asks === "another" ? { ...model, id: "m2" } : model;
          assert.equal(await ask(target, asked, chosen), fresh(protocol, target, asked, chosen));
        }
        known += rests.length;
      }),
      { numRuns: RUNS, ...sweepSeed(20261122) },
    );
    // Forty random runs settle 33 requests on average, 18 with bad luck.
    assert.ok(known > RUNS / 8, `only ${known} requests had anything settled`);
  });
}
