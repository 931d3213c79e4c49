/** The text of a streaming answer in the log, and what the next process makes of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { Agent, type AgentMessage } from "../../src/agent/index.ts";
import { applyEvent, type AssistantMessageEvent } from "../../src/llm/event.ts";
import { messageText, type AssistantMessage } from "../../src/llm/message.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  resumeSession,
  sessionToMarkdown,
  type Entry,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { RunLog } from "../../src/session/run-log.ts";
import { partialAnswerIn } from "../../src/session/partial-answer.ts";
import { StreamedText } from "../../src/session/streamed-text.ts";
import { createScriptedModel, type ScriptedStep } from "../../src/testing/index.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { entriesIn, sessionOf } from "./agent-rig.ts";
import { collect } from "./support.ts";

type Streamed = Extract<Entry, { type: "streamed_text" }>;

const ANSWER = "The tide is high at ten past two, and low at eight in the evening.";

function agentOf(...script: ScriptedStep[]): { agent: Agent; asked: () => string[] } {
  const { model, streamFn, calls } = createScriptedModel(script, { deltaLength: 4, delayMs: 1 });
  const agent = new Agent({ initialState: { model }, streamFn });
  return { agent, asked: () => calls.map(({ context }) => JSON.stringify(context.messages)) };
}

const streamedIn = (entries: readonly Entry[]): Streamed[] =>
  entries.filter((entry) => entry.type === "streamed_text");

/** A session whose process was killed while its answer streamed. */
async function killed(store: Store, id = "s", shown = "The tide is"): Promise<void> {
  const head = [
    { type: "run_start", runId: "r" },
    { type: "message", runId: "r", message: { role: "user", content: "When?", timestamp: 1 } },
    {
      type: "streamed_text",
      runId: "r",
      pieces: [{ contentIndex: 1, text: shown.slice(0, 4) }],
      retractedFrom: 0,
      origin: { api: "a", provider: "p", model: "m", timestamp: 1 },
    },
    { type: "streamed_text", runId: "r", pieces: [{ contentIndex: 1, text: shown.slice(4) }] },
  ] as const;
  const entries = head.map((body, seq) => ({
    ...body,
    seq,
    id: `e${seq}`,
    parentId: seq === 0 ? null : `e${seq - 1}`,
    timestamp: 1,
  }));
  await sessionOf(store, id, entries);
}

async function answersIn(session: Session): Promise<AssistantMessage[]> {
  const messages = (await session.allMessages()) as AgentMessage[];
  return messages.filter((message) => message.role === "assistant");
}

describe("the text of an answer that streams", () => {
  it("is not saved by default", async () => {
    const store = createMemoryStore();
    await using session = await createSession(store, { id: "s" });
    const { agent } = agentOf(ANSWER);
    await attachSession(agent, session);
    await agent.prompt("When?");
    assert.deepEqual(streamedIn(await entriesIn(store, "s")), []);
  });

  it("is saved in increments, the first piece at once, the others after 100 ms each", async () => {
    const clock = new ManualClock();
    const session = await createSession(createMemoryStore());
    const saved = async (): Promise<string[]> =>
      streamedIn((await collect(session.entries())) as Entry[]).map(({ pieces }) =>
        pieces.map(({ text }) => text).join("|"),
      );
    const { add } = adder(new StreamedText(new RunLog(session), clock));
    add({ type: "text_start", contentIndex: 0 });
    add({ type: "text_delta", contentIndex: 0, delta: "a" });
    await settle();
    assert.deepEqual(await saved(), ["a"]);
    for (const delta of ["b", "c", "d"]) {
      add({ type: "text_delta", contentIndex: 0, delta });
      await clock.advance(30);
    }
    assert.deepEqual(await saved(), ["a"]);
    await clock.advance(10);
    assert.deepEqual(await saved(), ["a", "bcd"]);
    await clock.advance(1000);
    assert.equal(clock.pending, 0);
    add({ type: "text_delta", contentIndex: 0, delta: "e" });
    await settle();
    assert.deepEqual(await saved(), ["a", "bcd", "e"]);
  });

  it("is replaced by the message of the whole answer", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const { agent } = agentOf(ANSWER);
    await attachSession(agent, session, { saveStreamedText: true });
    const { message } = await agent.prompt("When?");
    assert.ok(streamedIn(await entriesIn(store, "s")).length > 0);
    assert.deepEqual(await answersIn(session), [message]);
    assert.equal((await session.state()).run?.partialAnswer, undefined);
    assert.equal((await sessionToMarkdown(session)).split(ANSWER).length, 2);
    const { sessions } = await store.list();
    assert.deepEqual([sessions[0]?.title, sessions[0]?.messageCount], ["When?", 2]);
  });

  it("does not count after an abort, whose message has it", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const { agent } = agentOf(ANSWER);
    await attachSession(agent, session, { saveStreamedText: true });
    agent.subscribe(({ type }) => type === "message_update" && agent.abort());
    const { message } = await agent.prompt("When?");
    assert.equal(message?.stopReason, "aborted");
    assert.deepEqual(await answersIn(session), [message]);
  });

  /** Any pieces, retractions and waits: the log has what was there at most 200 ms ago. */
  it("is in the log at most 200 ms later, whatever is retracted", async () => {
    const index = fc.integer({ min: 0, max: 3 });
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(fc.constant("text" as const), index, fc.string({ minLength: 1 })),
      },
      { weight: 1, arbitrary: fc.tuple(fc.constant("retract" as const), index, fc.constant("")) },
      {
        weight: 3,
        arbitrary: fc.tuple(
          fc.constant("wait" as const),
          fc.integer({ min: 0, max: 150 }),
          fc.constant(""),
        ),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = new ManualClock();
        const session = await createSession(createMemoryStore());
        const { add, shown } = adder(new StreamedText(new RunLog(session), clock));
        const moments = [{ at: clock.now(), text: "" }];
        for (const [kind, number, delta] of steps) {
          if (kind === "text") {
            add({ type: "text_start", contentIndex: number });
            add({ type: "text_delta", contentIndex: number, delta });
          } else if (kind === "retract")
            add({
              type: "message_retract",
              contentIndex: number,
              error: { code: "overloaded", message: "", retryable: true },
            });
          else await clock.advance(number);
          moments.push({ at: clock.now(), text: shown() });
          const message = partialAnswerIn((await collect(session.entries())) as Entry[], "r");
          const text = message === undefined ? "" : messageText(message);
          const last = moments.findLastIndex((moment) => moment.text === text);
          assert.ok(last >= 0, `${JSON.stringify(text)} was never shown`);
          const next = moments[last + 1];
          assert.ok(next === undefined || clock.now() - next.at <= 200, `${text} is too old`);
        }
        await clock.advance(200);
        assert.equal(clock.pending, 0);
      }),
      { numRuns: 200 },
    );
  });
});

/** Adds events of one answer, and folds them as the agent does. */
function adder(streamed: StreamedText): {
  add: (event: object) => void;
  shown: () => string;
} {
  let message: AssistantMessage | undefined;
  const apply = (body: object): void => {
    const event = { attempt: 1, ...body } as AssistantMessageEvent;
    if (event.type === "text_start" && message?.content[event.contentIndex]) return;
    message = applyEvent(message, event);
    const update = { type: "message_update", runId: "r", seq: 0, assistantMessageEvent: event };
    streamed.add({ ...update, message } as Parameters<StreamedText["add"]>[0]);
  };
  apply({ type: "start", api: "a", provider: "p", model: "m", timestamp: 1 });
  return {
    add: apply,
    shown: () => messageText({ content: (message?.content ?? []).filter(Boolean) }),
  };
}

describe("the text of an answer that the end of its process cut", () => {
  it("is in the state and the interrupted run, and a message of the transcript", async () => {
    const store = createMemoryStore();
    await killed(store);
    const session = await openSession(store, "s");
    const { run } = await session.state();
    assert.equal(run?.partialAnswer && messageText(run.partialAnswer), "The tide is");
    assert.deepEqual(await answersIn(session), []);
    const { agent } = agentOf();
    const { interrupted } = await attachSession(agent, session);
    assert.equal(interrupted?.partialText, "The tide is");
    const [answer] = await answersIn(session);
    assert.deepEqual(answer, agent.state.messages.at(-1));
    assert.equal(answer?.stopReason, "aborted");
    assert.match(answer?.errorMessage ?? "", /its process ended/);
    assert.deepEqual(answer?.content, [{ type: "text", text: "The tide is" }]);
  });

  it("is in the next request, with a note, and the model answers", async () => {
    const store = createMemoryStore();
    await killed(store);
    const { agent } = agentOf(ANSWER);
    const { result, session } = await resumeSession(store, "s", agent);
    assert.deepEqual([result?.reason, result?.text], ["done", ANSWER]);
    const messages = agent.state.messages.slice(0, 2) as AssistantMessage[];
    const { body } = openaiChat.encode(getModel("openai", "m"), { messages }, {});
    assert.deepEqual(body.messages, [
      { role: "user", content: "When?" },
      { role: "assistant", content: "The tide is" },
      {
        role: "user",
        content: "[The answer above is incomplete. The answer was cut: its process ended.]",
      },
    ]);
    const { run } = await session.state();
    assert.deepEqual([run?.reason, run?.turns], ["done", 2]);
  });

  it("is there once, however often its run is taken up and killed again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }), async (cuts) => {
        const store = createMemoryStore();
        await killed(store, "0");
        let id = "0";
        for (const [life, more] of cuts.entries()) {
          const before = (await entriesIn(store, id)).length;
          const { session } = await resumeSession(store, id, agentOf(ANSWER).agent, {
            saveStreamedText: true,
          });
          await session.close();
          const entries = (await entriesIn(store, id)).slice(0, before + more);
          id = String(life + 1);
          await sessionOf(store, id, entries);
        }
        const { session } = await resumeSession(store, id, agentOf(ANSWER).agent);
        const answers = await answersIn(session);
        const texts = answers.map((answer) => messageText(answer));
        assert.equal(texts.filter((text) => text === "The tide is").length, 1, texts.join("\n"));
        assert.equal(texts.filter((text) => text === ANSWER).length, 1);
        assert.ok(texts.every((text) => text === "The tide is" || ANSWER.startsWith(text)));
        assert.equal((await session.state()).run?.partialAnswer, undefined);
      }),
      { numRuns: 25 },
    );
  });

  it("stays when the program prompts instead of resuming", async () => {
    const store = createMemoryStore();
    await killed(store);
    const session = await openSession(store, "s");
    const { agent, asked } = agentOf("Yes.");
    await attachSession(agent, session);
    await agent.prompt("And then?");
    assert.match(asked()[0] ?? "", /When\?.*The tide is.*And then\?/);
    assert.equal((await answersIn(session)).length, 2);
  });

  it("is not sent to the model when the run had been aborted", async () => {
    const store = createMemoryStore();
    await killed(store);
    const session = await openSession(store, "s");
    await session.append({ type: "abort", runId: "r" });
    const { agent, asked } = agentOf();
    const { resume } = await attachSession(agent, session);
    const result = await resume();
    assert.deepEqual([result?.reason, asked().length], ["aborted", 0]);
    const answers = await answersIn(session);
    assert.equal(answers[0] && messageText(answers[0]), "The tide is");
  });

  it("is a message of a fork", async () => {
    const store = createMemoryStore();
    await killed(store);
    const session = await openSession(store, "s");
    const fork = await session.fork();
    const [answer] = await answersIn(fork);
    assert.equal(answer && messageText(answer), "The tide is");
    assert.match(answer?.errorMessage ?? "", /forked/);
    assert.deepEqual(await answersIn(session), []);
    const { run } = await fork.state();
    assert.deepEqual([run?.reason, run?.partialAnswer], ["interrupted", undefined]);
  });
});
