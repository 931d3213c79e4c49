/**
 * How programs written for seed 002's library use it, which must also work here. One pattern per
 * test.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { Type } from "typebox";
import {
  Agent,
  agentLoop,
  runAgentLoop,
  runAgentLoopContinue,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
} from "../../src/agent/index.ts";
import {
  Agent as AgentWithWires,
  runAgentLoop as runAgentLoopWithWires,
  streamByProtocol,
} from "../../src/index.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import type { AssistantMessage, Message } from "../../src/llm/message.ts";
import type { StreamFn } from "../../src/llm/model.ts";
import { call, hello, rig, short, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { total: 0.5 },
};

/**
 * An answer as programs write it by hand: with every field that their library requires, and none
 * that only this library has.
 */
function answer(text: string, more: Partial<AssistantMessage> = {}): AssistantMessage {
  const content = [{ type: "text" as const, text }];
  return {
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model: "m",
    usage,
    stopReason: "stop",
    timestamp: 1,
    ...more,
  };
}

/** A custom stream class: events are pushed into it, each with the whole message so far. */
class PushedStream implements AsyncIterable<AssistantMessageEvent> {
  readonly #events: unknown[] = [];
  #wake = (): void => {};

  push(...events: object[]): this {
    this.#events.push(...events);
    this.#wake();
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AssistantMessageEvent> {
    for (;;) {
      while (this.#events.length > 0) yield this.#events.shift() as AssistantMessageEvent;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Returns these answers one after the other, as one event each. */
function answering(...answers: AssistantMessage[]): StreamFn {
  return async () => {
    const message = answers.shift() ?? answer("(no more)");
    const isFailure = message.stopReason === "error";
    return new PushedStream().push(
      isFailure
        ? { type: "error", reason: "error", error: message }
        : { type: "done", reason: "stop", message },
    );
  };
}

const echo: AgentTool = {
  name: "echo",
  label: "Echo",
  description: "Says it again",
  parameters: Type.Object({ text: Type.String() }),
  execute: async (_id, { text }, _signal, onUpdate) => {
    onUpdate?.({ content: [{ type: "text", text: "Listening" }], details: { percent: 50 } });
    return { content: [{ type: "text", text }], details: { percent: 100 } };
  },
};
const echoing = (text: string, id: string): AssistantMessage["content"][number] => ({
  type: "toolCall",
  id,
  name: "echo",
  arguments: { text },
});

describe("a program that extends the agent", () => {
  it("can read and wrap the stream function, including the default", async () => {
    assert.equal(new AgentWithWires().streamFn, streamByProtocol);
    assert.equal(new AgentWithWires({ streamFn: undefined }).streamFn, streamByProtocol);
    class Preset extends Agent {
      static override defaultStreamFn = answering(answer("From the default."));
    }
    const agent = new Preset({ initialState: { model: rig([]).script.model }, sessionId: "s" });
    const inner = agent.streamFn?.bind(agent);
    const asked: unknown[] = [];
    agent.streamFn = async (model, context, options) => {
      asked.push([model.id, texts(context.messages), options.sessionId]);
      assert.ok(inner);
      return inner(model, context, { ...options, temperature: 0 });
    };
    await agent.prompt("Hi");
    assert.deepEqual(asked, [["scripted", ["user: Hi"], "s"]]);
    assert.deepEqual(texts(agent.state.messages as Message[]), [
      "user: Hi",
      "assistant: From the default.",
    ]);
  });

  it("can call the agent's convertToLlm to see what a model would see", async () => {
    const notice = { role: "notice", text: "Connected." } as unknown as AgentMessage;
    const agent = new Agent({ initialState: { messages: [hello, notice] } });
    assert.deepEqual(await agent.convertToLlm(agent.state.messages), [hello]);
    assert.deepEqual(await agent.convertToLlm([notice, ...agent.state.messages, hello]), [
      hello,
      hello,
    ]);
    const inner = agent.convertToLlm;
    agent.convertToLlm = async (messages) => (await inner(messages)).toReversed();
    assert.deepEqual(await agent.convertToLlm([hello, notice, answer("Yes?")]), [
      answer("Yes?"),
      hello,
    ]);
  });

  it("can redraw when the set of pending calls is replaced, because an earlier set never changes", async () => {
    const { agent } = rig([{ content: [echoing("a", "1"), echoing("b", "2")] }, "Done."], [echo]);
    const drawn: ReadonlySet<string>[] = [];
    agent.subscribe(() => {
      if (drawn.at(-1) !== agent.state.pendingToolCalls) drawn.push(agent.state.pendingToolCalls);
    });
    await agent.prompt("Hi");
    assert.deepEqual(
      drawn.map((ids) => [...ids].join()),
      ["", "1", "1,2", "2", ""],
    );
  });

  it("can observe every agent by patching `subscribe`", () => {
    const seen: Agent[] = [];
    class Watched extends Agent {}
    const original = Object.getOwnPropertyDescriptor(Agent.prototype, "subscribe")
      ?.value as Agent["subscribe"];
    Watched.prototype.subscribe = function (this: Watched, listener) {
      seen.push(this);
      return original.call(this, listener);
    };
    const agent = new Watched();
    agent.subscribe(() => {})();
    assert.deepEqual(seen, [agent]);
  });

  it("can extend the class, change the prompt before a run and listen from the start", async () => {
    class Bot extends Agent {
      readonly heard: string[] = [];
      constructor(options: AgentOptions) {
        if (options.initialState) options.initialState.systemPrompt += " You are no. 5.";
        super(options);
        this.subscribe(async ({ type }) => void this.heard.push(type));
      }
    }
    const { script } = rig(["Hello."]);
    const bot = new Bot({
      initialState: { systemPrompt: "Be kind.", model: script.model },
      streamFn: script.streamFn,
    });
    await bot.prompt("Hi");
    assert.equal(script.calls[0]?.context.systemPrompt, "Be kind. You are no. 5.");
    assert.deepEqual([bot.heard[0], bot.heard.at(-1)], ["agent_start", "agent_end"]);
  });

  it("can set prompt and tools for one request, and restore them", async () => {
    const { agent, script } = rig(["A form.", "Hello."], [echo]);
    const { tools, systemPrompt } = agent.state;
    agent.state.tools = [];
    agent.state.systemPrompt = "Fill in the form.";
    await agent.prompt("Hi");
    agent.state.tools = tools;
    agent.state.systemPrompt = systemPrompt;
    await agent.prompt("Hi");
    assert.deepEqual(
      script.calls.map(({ context }) => [context.systemPrompt, context.tools?.length]),
      [
        ["Fill in the form.", 0],
        ["", 1],
      ],
    );
  });
});

describe("a custom stream function", () => {
  it("may push the whole message with each event, and emits the same events as a built-in one", async () => {
    const started = rig(["Hello."]);
    await started.agent.prompt("Hi");
    const streamFn: StreamFn = () => {
      const partial = answer("");
      const grown = answer("Hello.");
      const place = { contentIndex: 0 };
      return new PushedStream()
        .push({ type: "start", partial }, { type: "text_start", ...place, partial })
        .push({ type: "text_delta", ...place, delta: "Hello.", partial: grown })
        .push({ type: "text_end", ...place, content: "Hello.", partial: grown })
        .push({ type: "done", reason: "stop", message: grown });
    };
    const { agent, events } = rig([], [], { streamFn });
    const live: string[] = [];
    agent.subscribe(({ type }) => {
      const { streamingMessage } = agent.state;
      if (type === "message_update" && streamingMessage)
        live.push(texts([streamingMessage])[0] as string);
    });
    await agent.prompt("Hi");
    assert.deepEqual(events.map(short), started.events.map(short));
    assert.deepEqual(live, ["assistant: ", "assistant: Hello.", "assistant: Hello."]);
    assert.deepEqual(agent.state.messages.at(-1), answer("Hello."));
  });

  it("may emit only the end, calls without argument deltas, and a stop reason that names no tools", async () => {
    const { agent, events } = rig([], [echo], {
      streamFn: answering(answer("", { content: [echoing("again", "1")] }), answer("Done.")),
    });
    await agent.prompt("Hi");
    assert.deepEqual(
      events.map(short).filter((event) => !event.startsWith("message_start")),
      [
        "agent_start",
        "turn_start",
        "message_end:user",
        "message_end:assistant",
        "tool_execution_start:1",
        "tool_execution_update:1",
        "tool_execution_end:1",
        "message_end:result 1",
        "turn_end",
        "turn_start",
        "message_end:assistant",
        "turn_end",
        "agent_end:done",
      ],
    );
  });

  it("may report its abort in its own words, and its partial answer is recorded", async () => {
    const stream = new PushedStream();
    const partial = answer("So f");
    const { agent } = rig([], [], {
      streamFn: (_model, _context, { signal }) => {
        const error = { ...partial, stopReason: "aborted", errorMessage: "Request was aborted" };
        signal?.addEventListener("abort", () =>
          stream.push({ type: "error", reason: "aborted", error }),
        );
        return stream.push(
          { type: "start", partial },
          { type: "text_start", contentIndex: 0, partial },
        );
      },
    });
    agent.subscribe(({ type }) => type === "message_update" && agent.abort());
    await agent.prompt("Hi");
    const last = agent.state.messages.at(-1) as AssistantMessage;
    assert.deepEqual([last.stopReason, last.errorMessage], ["aborted", "Request was aborted"]);
    assert.deepEqual([texts([last]), agent.signal], [["assistant: So f"], undefined]);
  });
});

describe("a stream that ends with result() and no final event", () => {
  const ending = (result: unknown): StreamFn => {
    const nothing = { next: () => Promise.resolve({ done: true as const, value: undefined }) };
    return () =>
      ({ [Symbol.asyncIterator]: () => nothing, result: () => Promise.resolve(result) }) as never;
  };

  it("has its calls run, and its failure reported", async () => {
    const answers = [answer("", { content: [echoing("again", "1")] }), answer("Done.")];
    const { agent } = rig([], [echo], {
      streamFn: (...asked) => ending(answers.shift())(...asked),
    });
    await agent.prompt("Hi");
    assert.deepEqual(texts(agent.state.messages as Message[]).slice(2), [
      "toolResult: again",
      "assistant: Done.",
    ]);
    const failing = rig([], [], {
      streamFn: ending(answer("", { stopReason: "error", errorMessage: "no" })),
    });
    assert.equal((await failing.agent.prompt("Hi")).reason, "error");
  });

  it("is truncated when result() is missing, pending or no answer", async () => {
    for (const result of [undefined, {}, { role: "user" }]) {
      const { error } = await rig([], [], { streamFn: ending(result) }).agent.prompt("Hi");
      assert.equal(error?.code, "stream_truncated");
    }
    const never: StreamFn = async (...asked) => ({
      ...(await ending(0)(...asked)),
      result: () => new Promise<never>(() => {}),
    });
    assert.equal(
      (await rig([], [], { streamFn: never }).agent.prompt("Hi")).error?.code,
      "stream_truncated",
    );
  });
});

describe("a program that controls the runs", () => {
  it("can drop a failed answer in a timer after agent_end, and continue", async () => {
    const { agent } = rig([], [], {
      streamFn: answering(
        answer("", { stopReason: "error", errorMessage: "overloaded" }),
        answer("Now."),
      ),
    });
    let again: Promise<unknown> | undefined;
    agent.subscribe(({ type }) => {
      const last = agent.state.messages.at(-1);
      if (type !== "agent_end" || last?.role !== "assistant" || last.stopReason !== "error") return;
      again = nextTick().then(() => {
        agent.state.messages = agent.state.messages.slice(0, -1);
        return agent.continue();
      });
    });
    await agent.prompt("Hi");
    assert.equal(agent.state.errorMessage, "overloaded");
    await again;
    assert.deepEqual(texts(agent.state.messages as Message[]), ["user: Hi", "assistant: Now."]);
    assert.equal(agent.state.errorMessage, undefined);
  });

  it("can store the transcript as JSON and load it into another agent", async () => {
    const first = rig([{ content: [echoing("again", "1")] }, "Done."], [echo]);
    await first.agent.prompt("Hi");
    const kept = JSON.stringify(first.agent.state.messages);
    const second = rig(["Back."]);
    second.agent.state.messages = JSON.parse(kept) as AgentMessage[];
    await second.agent.prompt("And?");
    const seen = second.script.calls[0]?.context.messages ?? [];
    assert.equal(JSON.stringify(seen.slice(0, -1)), kept);
    assert.deepEqual(texts(seen).slice(-2), ["assistant: Done.", "user: And?"]);
  });

  it("can add an assistant message without metadata to one request", async () => {
    const lore = {
      role: "assistant",
      content: [{ type: "text", text: "They like rain." }],
    } as AssistantMessage;
    const { agent, script } = rig(["Hello."], [], {
      transformContext: async (messages) => [...messages.slice(0, -1), lore, ...messages.slice(-1)],
    });
    await agent.prompt("Hi");
    assert.deepEqual(texts(script.calls[0]?.context.messages ?? []), [
      "assistant: They like rain.",
      "user: Hi",
    ]);
    assert.deepEqual(texts(agent.state.messages as Message[]), ["user: Hi", "assistant: Hello."]);
  });

  it("can replace the transcript with a summary between two turns", async () => {
    const { agent, script } = rig([call("a"), "Done."], [tool("a", () => "1")]);
    agent.subscribe((event) => {
      if (event.type === "turn_end" && event.toolResults.length > 0) agent.state.messages = [hello];
    });
    await agent.prompt("Hi");
    assert.deepEqual(texts(script.calls[1]?.context.messages ?? []), ["user: Hello"]);
    assert.deepEqual(texts(agent.state.messages as Message[]), ["user: Hello", "assistant: Done."]);
  });

  it("can count turns in turn_end and abort after the last: results are recorded and no further request is sent", async () => {
    const { agent, script } = rig([call("a"), call("a")], [tool("a", () => "1")]);
    let left = 1;
    agent.subscribe(({ type }) => type === "turn_end" && --left === 0 && agent.abort());
    await agent.prompt("Hi");
    assert.deepEqual([agent.state.messages.at(-1)?.role, script.calls.length], ["toolResult", 1]);
    assert.match(agent.state.errorMessage ?? "", /aborted/);
  });

  it("can follow a call by its id, with arguments, progress and details", async () => {
    const { agent } = rig([{ content: [echoing("again", "1")] }, "Done."], [echo]);
    const trace: unknown[] = [];
    agent.subscribe((event: AgentEvent) => {
      if (event.type === "tool_execution_start")
        trace.push([event.toolCallId, event.toolName, event.args]);
      if (event.type === "tool_execution_update")
        trace.push([event.toolCallId, event.partialResult.details]);
      if (event.type === "tool_execution_end")
        trace.push([event.toolCallId, event.isError, event.result.details]);
    });
    await agent.prompt("Hi");
    assert.deepEqual(trace, [
      ["1", "echo", { text: "again" }],
      ["1", { percent: 50 }],
      ["1", false, { percent: 100 }],
    ]);
  });

  it("can wrap the agent's tools and call the originals", async () => {
    const { agent } = rig([{ content: [echoing("again", "1")] }, "Done."], [echo]);
    agent.state.tools = agent.state.tools.map((inner) => ({
      ...inner,
      execute: async (id, params, signal, onUpdate) => {
        const { content = [], details } = await inner.execute(id, params, signal, onUpdate);
        return { content: [...content, { type: "text", text: "!" }], details };
      },
    }));
    await agent.prompt("Hi");
    assert.deepEqual(texts(agent.state.messages as Message[])[2], "toolResult: again!");
  });

  it("can prompt with a list of images that is empty or undefined", async () => {
    const { agent } = rig(["1", "2", "3"]);
    const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
    for (const images of [[image], [], undefined]) await agent.prompt("Look", images);
    const said = agent.state.messages
      .filter(({ role }) => role === "user")
      .map(({ content }) => content);
    assert.deepEqual(said, [[{ type: "text", text: "Look" }, image], "Look", "Look"]);
  });

  it("can read a low-level loop to its end, and get its result", async () => {
    const { script } = rig([{ content: [echoing("again", "1")] }, "Done."]);
    const context = {
      systemPrompt: "",
      messages: [hello, answer("Hello.")] as AgentMessage[],
      tools: [echo],
    };
    const config = {
      model: script.model,
      signal: new AbortController().signal,
      reasoning: "low" as const,
      convertToLlm: (messages: AgentMessage[]) => messages,
      getSteeringMessages: async () => [],
    };
    const stream = agentLoop([hello], context, config, undefined, script.streamFn);
    let isOver = false;
    for await (const { type } of stream) isOver = type === "agent_end";
    assert.ok(isOver);
    assert.equal((await stream.result()).length, 4);
    assert.equal(context.messages.length, 2);
  });

  it("can give a low-level loop a sink, which is awaited before a tool runs", async () => {
    const trace: string[] = [];
    const noted: AgentTool = {
      ...echo,
      execute: async () => {
        trace.push("runs");
        return { content: [] };
      },
    };
    const { script } = rig([{ content: [echoing("again", "1")] }, "Done.", "And on."]);
    const context = { systemPrompt: "", messages: [] as AgentMessage[], tools: [noted] };
    const config = {
      model: script.model,
      convertToLlm: (messages: AgentMessage[]) => messages as Message[],
    };
    const emit = async ({ type }: AgentEvent): Promise<void> => {
      await nextTick();
      trace.push(type);
    };
    const messages = await runAgentLoop([hello], context, config, emit, undefined, script.streamFn);
    assert.deepEqual(texts(messages as Message[]).at(-1), "assistant: Done.");
    assert.equal(trace[trace.indexOf("runs") - 1], "tool_execution_start");
    assert.deepEqual([trace.at(-1), context.messages], ["agent_end", []]);
    context.messages = [...messages, hello];
    await runAgentLoopContinue(context, config, emit, undefined, script.streamFn);
    assert.deepEqual(texts(context.messages as Message[]).at(-1), "assistant: And on.");
    await assert.rejects(
      runAgentLoopContinue(context, config, emit, undefined, script.streamFn),
      /Cannot continue/,
    );
    await assert.rejects(runAgentLoop([hello], context, config, emit), {
      code: "invalid_argument",
    });
    const failed = await runAgentLoopWithWires(
      [hello],
      context,
      { ...config, model: { ...script.model, api: "x" } },
      emit,
    );
    assert.equal((failed.at(-1) as AssistantMessage).stopReason, "error");
  });
});
