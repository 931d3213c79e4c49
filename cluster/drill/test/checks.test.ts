/** Each check of the drill finds the fault that is forged into good evidence, and nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage } from "@bowline/core";
import type { EntryBody } from "@bowline/core/session";
import type { AuditRow, Evidence } from "../evidence.ts";
import type { RunFrame } from "../clients/run-stream.ts";
import { resultOf } from "../outside/ledger.ts";
import { textOf, THRIFTY_TOKENS, type Task } from "../task.ts";
import {
  asks,
  forged,
  frames,
  never,
  NOW,
  result,
  RUN,
  safe,
  SESSION,
  streamOf,
  use,
} from "./forged.ts";
import { after, assertFound, found } from "./judged.ts";

/** Changes the stored entries. */
function stored(change: (all: EntryBody[]) => void): Evidence {
  return forged({ entries: change });
}

const at = (all: readonly EntryBody[], role: string, nth = 0): number =>
  all.flatMap((entry, index) =>
    entry.type === "message" && entry.message.role === role ? [index] : [],
  )[nth] ?? assert.fail();

function received(change: (all: RunFrame[]) => void): Evidence {
  return after((evidence) => {
    const all = frames();
    change(all);
    evidence.streams = [streamOf(all)];
  });
}

function assistant(all: readonly EntryBody[], nth: number): AssistantMessage {
  const entry = all[at(all, "assistant", nth)];
  return entry?.type === "message" ? (entry.message as AssistantMessage) : assert.fail();
}

describe("the checks of the drill", () => {
  it("find nothing in evidence of a cluster that works", () => {
    assert.deepEqual(found(forged()), []);
  });

  describe("of messages", () => {
    it("find a message that was accepted and is not stored", () => {
      const evidence = stored((all) => void all.splice(at(all, "user", 1), 1));
      assertFound(evidence, /messages: s0-1: it was accepted for the run run-s0-0 and is not/);
    });

    it("find a message that is stored twice", () => {
      const evidence = stored((all) => {
        const index = at(all, "user", 1);
        all.splice(index, 0, all[index] as EntryBody);
      });
      assertFound(evidence, /messages: s0-1: it is in the transcript 2 times/);
    });

    it("find a key with two runs", () => {
      const evidence = after(({ messages }) => {
        messages[0]?.answers.push({ runId: "another", status: "started" });
      });
      assertFound(evidence, /messages: s0-0: one key was answered with the runs/);
    });

    it("find a run that a client was told of and that never began", () => {
      const told = (status: string) =>
        after(({ messages }) => messages[1]?.answers.push({ runId: "run-s0-1", status }));
      assertFound(told("in_flight"), /messages: s0-1: its run is run-s0-1, which never began/);
      assert.deepEqual(found(told("waiting")), []);
    });

    it("find a message into an aborted run that is gone with it", () => {
      const evidence = stored((all) => void all.splice(at(all, "user", 1), 1));
      const aborts = [{ session: "s0", runId: "run-s0-0", isAcknowledged: true }];
      assertFound({ ...evidence, aborts }, /messages: s0-1: it was accepted for the run run-s0-0/);
    });

    it("find a message that the model did not hear", () => {
      const evidence = stored((all) => {
        const [part] = assistant(all, 1).content;
        if (part?.type === "text") part.text = part.text.replace("s0-1 ", "");
      });
      assertFound(evidence, /messages: s0-1: no answer of its run run-s0-0 heard it/);
    });

    it("find a run that ended with an error", () => {
      const evidence = stored((all) => {
        all[all.length - 1] = { type: "run_end", runId: RUN, reason: "interrupted" };
      });
      assertFound(evidence, /messages: the run run-s0-0 ended with interrupted/);
    });

    it("find an abort that nobody asked for", () => {
      const evidence = stored((all) => {
        all[all.length - 1] = { type: "run_end", runId: RUN, reason: "aborted" };
      });
      assertFound(evidence, /messages: the run run-s0-0 ended with aborted/);
    });
  });

  describe("of transcripts", () => {
    it("find an entry after the run's end", () => {
      const evidence = stored(
        (all) => void all.push({ type: "usage", runId: RUN, usage: { input: 1 } }),
      );
      assertFound(evidence, /transcripts: usage 14 of the run run-s0-0 is after the run's end/);
    });

    it("find a run without an end", () => {
      const evidence = stored((all) => void all.pop());
      assertFound(evidence, /transcripts: the run run-s0-0 has no end/);
    });

    it("find a run inside another one", () => {
      const evidence = stored(
        (all) => void all.splice(3, 0, { type: "run_start", runId: "other" }),
      );
      assertFound(
        evidence,
        /transcripts: run_start 3 of the run other is before the end of run-s0-0/,
      );
    });

    it("find a call without a result, and a result without a call", () => {
      const missing = stored((all) => void all.splice(at(all, "toolResult", 0), 1));
      assertFound(missing, /transcripts: message \d is a \w+ before the result of call_1_0/);
      const twice = stored((all) => {
        const index = at(all, "toolResult", 0);
        all.splice(index, 0, all[index] as EntryBody);
      });
      assertFound(twice, /transcripts: message 3 is a result that no call waits for: call_1_0/);
    });

    it("find an answer that is stored twice", () => {
      const evidence = stored((all) => {
        const index = at(all, "assistant", 1);
        all.splice(index, 0, all[index] as EntryBody);
      });
      assertFound(evidence, /transcripts: the answer 2 is there twice/);
    });

    it("find an answer that the model's server did not give", () => {
      const evidence = stored((all) => {
        const [part] = assistant(all, 1).content;
        if (part?.type === "text") part.text += "!";
      });
      assertFound(evidence, /transcripts: the answer 2 is "\[2\].*!" instead of/);
    });

    it("find an answer that the model was shown and that is not stored", () => {
      const evidence = after(({ ledger }) => {
        const seen = ledger.models[1]?.seenAnswers as { number: number; text: string }[];
        seen.push({ number: 7, text: "[7] another" });
      });
      assertFound(evidence, /transcripts: the model was shown an answer 7 that is not in/);
    });

    it("find an answer of another session", () => {
      const evidence = after(({ ledger }) => {
        (ledger.models[1] as { task: string }).task = "s1-0";
      });
      assertFound(evidence, /transcripts: the answer 2 belongs to s1-0/);
    });

    it("find a request that strict servers refuse", () => {
      const evidence = after(({ ledger }) => {
        const [first] = ledger.models;
        assert.ok(first);
        (first.problems as string[]).push("messages[1] has no content");
      });
      assertFound(evidence, /transcripts: the request of call 1: messages\[1\] has no content/);
    });

    it("find a hole in the numbers of entries", () => {
      const evidence = after((one) => {
        one.sessions = one.sessions.map(({ key, entries }) => ({ key, entries: entries.slice(1) }));
      });
      assertFound(evidence, /transcripts: the entry 0 has the number 1/);
    });
  });

  describe("of streams", () => {
    it("find a missing event", () => {
      assertFound(
        received((all) => void all.splice(1, 1)),
        /streams: .*after 0 comes chat.delta 2, which/,
      );
    });

    it("find an event that came twice", () => {
      const evidence = received((all) => void all.splice(2, 0, all[1] as RunFrame));
      assertFound(evidence, /streams: .*chat.delta 1 came after 1/);
      assertFound(evidence, /streams: .*text of turn 0: the client has/);
    });

    it("find a first event that is no first one", () => {
      assertFound(
        received((all) => void all.shift()),
        /streams: .*the first event is chat.delta 1/,
      );
    });

    it("find an event after the end, and a second end", () => {
      const evidence = received((all) => {
        const end = all.at(-1) as RunFrame;
        all.push({ ...end, data: { ...end.data, seq: end.data.seq + 1 } } as RunFrame);
      });
      assertFound(evidence, /streams: .*chat.final 12 came after the end/);
    });

    it("find a stream without an end", () => {
      assertFound(
        received((all) => void all.pop()),
        /streams: .*there is no end; the last event was 10/,
      );
    });

    it("find another end than that of the run", () => {
      const evidence = received((all) => {
        const { data } = all.at(-1) as RunFrame;
        all[all.length - 1] = { event: "chat.aborted", data: { ...data, usage: {} } } as RunFrame;
      });
      assertFound(evidence, /streams: .*it ended as chat.aborted, and the run as done/);
    });

    it("find a text and a result that differ from the transcript", () => {
      const text = received((all) => {
        const { data } = all[2] as RunFrame;
        all[2] = { event: "chat.delta", data: { ...data, turn: 0, text: " other" } } as RunFrame;
      });
      assertFound(text, /streams: .*text of turn 0: the client has .* other/);
      const output = received((all) => {
        const index = all.findIndex(({ event }) => event === "chat.tool_result");
        const { data } = all[index] as RunFrame;
        all[index] = { event: "chat.tool_result", data: { ...data, output: "no" } } as RunFrame;
      });
      assertFound(output, /streams: .*tool call_1_0: the client has .*"no"/);
    });

    it("accept a snapshot of a later attempt, and find one that is older", () => {
      const whole = (seq: number) =>
        received((all) => {
          const { data } = all.at(-1) as RunFrame;
          const blocks = [
            { type: "user", text: "task s0-0 nsa 2" },
            { type: "text", turn: 0, text: "[1] s0-0.0 heard s0-0 w0 w1 w2" },
            ...[never, safe, asks].map(({ id, name }) => ({
              type: "tool_call",
              toolCallId: id,
              name,
              arguments: {},
              state: "done",
              output: resultOf(name, id),
            })),
            { type: "user", text: "aside s0-1" },
            { type: "text", turn: 1, text: "[2] s0-0.1 heard s0-1 w0 w1" },
          ];
          const snapshot = {
            event: "chat.snapshot",
            data: { ...data, seq, state: "running", blocks },
          };
          all.splice(4, Infinity, snapshot as RunFrame);
          all.push(frames().at(-1) as RunFrame);
          const end = all.at(-1) as RunFrame;
          all[all.length - 1] = { ...end, data: { ...end.data, seq: seq + 1 } } as RunFrame;
        });
      assert.deepEqual(found(whole(20_000_000)), []);
      assertFound(whole(1), /streams: .*the snapshot 1 came after 3/);
    });

    it("find a run that is not stored", () => {
      const evidence = after((one) => {
        one.sessions = [{ key: SESSION, entries: [] }];
      });
      assertFound(evidence, /streams: .*it ended as chat.final and is not stored/);
    });
  });

  describe("of tools", () => {
    it("find a tool that must not be repeated and ran twice", () => {
      const evidence = after(({ ledger }) => void ledger.tools.push(use(never)));
      assertFound(evidence, /tools: never call_1_0 ran 2 times/);
    });

    it("accept a repeated safe tool, and find another key", () => {
      assert.deepEqual(found(after(({ ledger }) => void ledger.tools.push(use(safe)))), []);
      const evidence = after(
        ({ ledger }) => void ledger.tools.push({ ...use(safe), key: "other" }),
      );
      assertFound(evidence, /tools: safe call_1_1 ran under the keys/);
    });

    it("find a tool that ran and is in no transcript", () => {
      const evidence = after(({ ledger }) => {
        ledger.tools.push(use({ id: "call_9_0", name: "never" }));
      });
      assertFound(evidence, /tools: never call_9_0 ran, and no transcript has its call/);
    });

    it("find a result of a tool that did not run", () => {
      const evidence = after(({ ledger }) => void ledger.tools.shift());
      assertFound(evidence, /tools: never call_1_0 has a result and did not run/);
    });

    it("find an unknown outcome that the model was not told, and one of a safe tool", () => {
      const unknown = (call: typeof never) =>
        stored((all) => {
          const index = at(all, "toolResult", call === never ? 0 : 1);
          const text = `The process ended while ${call.name} ran. It is not known whether`;
          all[index] = { type: "message", runId: RUN, message: result(call, text) };
        });
      assertFound(unknown(never), /tools: the model was told of call_1_0: "never done/);
      assertFound(unknown(safe), /tools: safe call_1_1 may run again, and its outcome is unknown/);
    });
  });

  describe("of approvals", () => {
    it("find one without an answer, and one with two", () => {
      const without = stored((all) => {
        all.splice(
          all.findIndex(({ type }) => type === "approval_answer"),
          1,
        );
      });
      assertFound(without, /approvals: the approval approval-1 has no answer/);
      const twice = stored((all) => {
        const index = all.findIndex(({ type }) => type === "approval_answer");
        all.splice(index, 0, all[index] as EntryBody);
      });
      assertFound(twice, /approvals: the approval approval-1 has 2 answers/);
    });

    it("find another answer than the one that was given, and a denied call that ran", () => {
      const evidence = stored((all) => {
        const index = all.findIndex(({ type }) => type === "approval_answer");
        all[index] = { type: "approval_answer", approvalId: "approval-1", decision: "deny" };
      });
      assertFound(evidence, /approvals: the approval approval-1 is deny, and the answer was allow/);
      assertFound(evidence, /approvals: call_1_2 ran without being allowed/);
    });

    it("find one that is left open", () => {
      const evidence = after((one) => {
        one.left = { ...one.left, approvals: [{ session: SESSION, approvalId: "approval-2" }] };
      });
      assertFound(evidence, /approvals: the approval approval-2 is still open/);
    });
  });

  describe("of bills", () => {
    it("find a run whose usage is not that of its answers", () => {
      const evidence = stored((all) => {
        all[all.length - 1] = {
          type: "run_end",
          runId: RUN,
          reason: "done",
          usage: { input: 1001, output: 4 },
        };
      });
      assertFound(
        evidence,
        /bills: the run run-s0-0 says \[1001,4\], and its answers cost \[2003,4\]/,
      );
      assertFound(evidence, /bills: s0-sender was told that the run run-s0-0 used \[2003,4\]/);
    });

    it("find more lost calls than attempts can have lost", () => {
      const lost = after(({ ledger }) => {
        const [first] = ledger.models;
        if (first !== undefined) ledger.models.push({ ...first, number: 3, seenAnswers: [] });
      });
      assertFound(lost, /bills: 1 calls of the model are in no transcript \(3\), and 0 can/);
      const epoch: AuditRow = {
        at: NOW,
        session: SESSION,
        by: "worker-1",
        what: "epoch",
        epoch: 2,
      };
      (lost.audit as AuditRow[]).unshift(epoch);
      assert.deepEqual(found(lost), []);
    });
  });

  describe("of budgets", () => {
    it("find a run that goes on when its answers took more than its budget", () => {
      const long = "x".repeat(4 * THRIFTY_TOKENS * 2);
      const overrun = (words: string) => {
        const task: Task = { name: "s0-0", turns: [["n"]], words: 2, isUncounted: true };
        const evidence = stored((all) => {
          const user = all[at(all, "user", 0)];
          if (user?.type === "message") Object.assign(user.message, { content: textOf(task) });
          const [part] = assistant(all, 0).content;
          if (part?.type === "text") part.text += words;
        });
        const models = evidence.ledger.models.map((model) => {
          const uncounted = { ...model };
          delete (uncounted as { tokens?: unknown }).tokens;
          return uncounted;
        });
        return { ...evidence, ledger: { ...evidence.ledger, models } };
      };
      assertFound(
        overrun(long),
        /bills: the run run-s0-0 has the answer 2 after \d+ tokens, and its budget is/,
      );
      assert.ok(!found(overrun("")).some((text) => text.includes("budget")));
    });
  });

  describe("of the rest", () => {
    it("find what still waits, and what a client complains about", () => {
      const evidence = after((one) => {
        one.left = {
          openRuns: [{ session: SESSION, runId: "r" }],
          waiting: [{ session: SESSION, id: "m" }],
          approvals: [],
          invocations: [{ session: SESSION, text: "backing-off" }],
          failures: ["no Restate"],
        };
        one.complaints = [{ client: "c", session: SESSION, text: "refused" }];
      });
      assert.deepEqual(found(evidence), [
        "rest: c: refused",
        "rest: the run r is still open",
        "rest: the message m still waits",
        "rest: an invocation is left: backing-off",
        "rest: no Restate",
      ]);
    });
  });
});
