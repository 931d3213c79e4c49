/** Implements core's effects with the journal of an engine that replays. */
import type { AgentEvent, AgentMessage, Effects, InboxKind, ToolStepResult } from "@bowline/core";
import type { InboxMessage } from "@bowline/postgres";
import type { EventSource } from "../options.ts";
import type { Adoptions, StepOwner } from "./adoptions.ts";
import { RunInbox } from "./inbox.ts";
import type { Journal } from "./journal.ts";
import { Questions } from "./questions.ts";
import type { SessionLog } from "./session-log.ts";
import { Steps } from "./steps.ts";
import type { Transcript } from "./transcript.ts";

export interface EffectsParts {
  readonly runId: string;
  readonly journal: Journal;
  readonly log: SessionLog;
  readonly transcript: Transcript;
  readonly adoptions: Adoptions;
  readonly owner: StepOwner;
  readonly modes: ConstructorParameters<typeof RunInbox>[0]["modes"];
  /** Messages that were taken with the start of the run. */
  readonly taken: readonly InboxMessage[];
  readonly approvedTools: Set<string>;
  readonly maxResultBytes: number;
  readonly load: (seq: number) => Promise<ToolStepResult>;
  readonly source: Omit<EventSource, "number">;
  readonly onEvent: (event: AgentEvent, source: EventSource) => void;
}

export interface RunEffects {
  readonly effects: Effects;
  /** Messages that were taken and not read. */
  readonly left: () => readonly InboxMessage[];
}

export function createRunEffects(parts: EffectsParts): RunEffects {
  const { runId, journal, log, transcript, approvedTools, source, onEvent } = parts;
  const { ended } = journal.context;
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
  let number = 0;
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
      if (ended.aborted) return;
      // Nested runs are part of a tool's step.
      if (event.runId === runId) {
        transcript.addEvent(event);
        if (event.type === "approval_request") questions.asked(event.approvalId);
      }
      try {
        onEvent(event, { ...source, number: number++ });
      } catch {
        // A reader of events cannot change the run: it would go another way than its journal.
      }
    },
    now: () => journal.now,
    ended,
    patience: "none",
  };
  return { effects, left: () => inbox.left };
}
