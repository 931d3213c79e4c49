/** Implements core's effects with the journal of an engine that replays. */
import type { AgentMessage, Effects, InboxKind, ToolStepResult } from "@bowline/core";
import type { InboxMessage } from "@bowline/postgres";
import { passOn, type Adoptions, type StepOwner } from "./adoptions.ts";
import { RunInbox } from "./inbox.ts";
import type { Journal } from "./journal.ts";
import type { LiveEvents } from "./live-events.ts";
import { Questions } from "./questions.ts";
import type { SessionLog } from "./session-log.ts";
import { ShownAnswer } from "./shown-answer.ts";
import { Steps } from "./steps.ts";
import type { Transcript } from "./transcript.ts";

export interface EffectsParts {
  readonly runId: string;
  readonly journal: Journal;
  readonly log: SessionLog;
  readonly transcript: Transcript;
  readonly adoptions: Adoptions;
  readonly owner: StepOwner;
  readonly live: LiveEvents;
  readonly modes: ConstructorParameters<typeof RunInbox>[0]["modes"];
  /** Messages that were taken with the start of the run. */
  readonly taken: readonly InboxMessage[];
  readonly approvedTools: Set<string>;
  readonly maxResultBytes: number;
  readonly load: (seq: number) => Promise<ToolStepResult>;
}

export interface RunEffects {
  readonly effects: Effects;
  /** Messages that were taken and not read. */
  readonly left: () => readonly InboxMessage[];
}

export function createRunEffects(parts: EffectsParts): RunEffects {
  const { runId, journal, log, transcript, approvedTools, owner, live } = parts;
  const { ended } = journal.context;
  const shown = new ShownAnswer();
  const steps = new Steps(parts);
  const inbox = new RunInbox(parts);
  const write = async (name: string): Promise<void> => {
    const items = transcript.take();
    if (items.length > 0)
      await journal.record(`commit:${name}`, async () => void (await log.append(items)));
  };
  const find = (name: string, isClosing: boolean): ReturnType<SessionLog["findAnswer"]> =>
    log.findAnswer(name, isClosing);
  const questions = new Questions({ runId, journal, write, find });
  const effects: Effects = {
    step: steps.step,
    begin: (calls) => steps.begin(calls),
    decide: (name, fn) => journal.record(name, fn),
    waitFor: (name, options) => questions.waitFor(name, options),
    approvedTools,
    inbox: (kind: InboxKind, turn: number) => inbox.read(kind, turn),
    giveBack: (kind: InboxKind, messages: readonly AgentMessage[]) =>
      inbox.giveBack(kind, messages),
    publish(event) {
      // Nested runs are part of a tool's step.
      if (event.runId === runId) {
        transcript.addEvent(event);
        shown.add(event);
        if (event.type === "approval_request") questions.asked(event.approvalId);
      }
      live.tell(event);
    },
    publishLate(event) {
      passOn(event, owner, shown);
      if (event.runId === runId) shown.add(event);
    },
    now: () => journal.now,
    ended,
    patience: "none",
  };
  return { effects, left: () => inbox.left };
}
