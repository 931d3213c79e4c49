/**
 * Publishes the events of an attempt, and those of steps that it has taken over from an earlier one.
 * They are numbered as if they were all its own.
 */
import type { AgentEvent } from "@bowline/core";
import type { EventSource } from "../options.ts";
import type { ShownAnswer } from "./shown-answer.ts";

export class LiveEvents {
  readonly #source: Omit<EventSource, "number">;
  readonly #onEvent: (event: AgentEvent, source: EventSource) => void;
  #number = 0;
  /** The number of the run's next event. */
  #seq = 0;
  /** Whether a step that was taken over has shown the beginning of the present answer. */
  #hasBegun = false;

  constructor(
    source: Omit<EventSource, "number">,
    onEvent: (event: AgentEvent, source: EventSource) => void,
  ) {
    this.#source = source;
    this.#onEvent = onEvent;
  }

  /** Takes an event of the attempt itself. */
  tell(event: AgentEvent): void {
    if (this.#isOwn(event)) {
      // The loop did not see the beginning, and repeats it at the end of the answer.
      if (event.type === "message_start" && this.#hasBegun) return;
      if (event.type === "message_end") this.#hasBegun = false;
    }
    this.#send(event);
  }

  /** Takes an event of a step that an earlier attempt began, and what its answer said before it. */
  takeOver(event: AgentEvent, before: ShownAnswer): void {
    if (this.#isOwn(event) && event.type === "message_update" && !this.#hasBegun) {
      // The earlier attempt published what was before, and that was withdrawn with it.
      const { runId, seq, message } = event;
      this.#send({ type: "message_start", runId, seq, message });
      for (const one of before.events(event.assistantMessageEvent.attempt))
        this.#send({ type: "message_update", runId, seq, assistantMessageEvent: one, message });
      this.#hasBegun = true;
    }
    this.#hasBegun ||= this.#isOwn(event) && event.type === "message_start";
    this.#send(event);
  }

  /** Whether the event is one of the run itself, and not of a nested one. */
  #isOwn({ runId }: AgentEvent): boolean {
    return runId === this.#source.runId;
  }

  #send(event: AgentEvent): void {
    const numbered = this.#isOwn(event) ? withSeq(event, this.#seq++) : event;
    try {
      this.#onEvent(numbered, { ...this.#source, number: this.#number++ });
    } catch {
      // A reader of events cannot change the run: it would go another way than its journal.
    }
  }
}

function withSeq(event: AgentEvent, seq: number): AgentEvent {
  if (event.seq === seq) return event;
  // The message of an update is a getter, which a copy would not have.
  return event.type === "message_update"
    ? { ...event, seq, message: event.message }
    : { ...event, seq };
}
