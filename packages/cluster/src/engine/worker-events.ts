/** Publishes what happens in the runs of a worker. */
import type { AgentEvent, ErrorInfo } from "@bowline/core";
import type { EventSource } from "@bowline/restate";
import type { RunPublisher } from "../worker/publisher.ts";
import type { NewsWire } from "./news.ts";

type Source = Omit<EventSource, "number">;

interface Known {
  isAnnounced: boolean;
  hasEvents: boolean;
}

/** The most runs that are known at a time. */
const MAX_KNOWN = 10_000;

export class WorkerEvents {
  readonly #publisher: RunPublisher;
  readonly #news: NewsWire;
  readonly #known = new Map<string, Known>();

  constructor(publisher: RunPublisher, news: NewsWire) {
    this.#publisher = publisher;
    this.#news = news;
  }

  /** Called before a run's first event. `isAnnounced`: gateways have sent `chat.queued`. */
  expect(sessionKey: string, runId: string, isAnnounced: boolean): void {
    this.#of(sessionKey, runId).isAnnounced ||= isAnnounced;
  }

  tell(event: AgentEvent, source: Source): void {
    const { sessionId: sessionKey, runId } = source;
    const known = this.#of(sessionKey, runId);
    known.hasEvents = true;
    this.#publisher.tell(this.#attempt(source, known), event);
    if (event.type === "agent_start" && event.runId === runId) this.#changed(sessionKey, "run");
  }

  /** Called when the run's end is stored. */
  end(
    { reason, error }: { readonly reason: string; readonly error?: ErrorInfo },
    source: Source,
  ): void {
    const { sessionId: sessionKey, runId } = source;
    const known = this.#of(sessionKey, runId);
    this.#known.delete(nameOf(sessionKey, runId));
    if (!known.hasEvents) {
      // A run without an agent has no events of its own.
      if (error !== undefined && reason !== "aborted")
        this.#publisher.fail(this.#attempt(source, known), error);
      else this.#news.send({ kind: "over", sessionKey, runId });
    }
    this.#changed(sessionKey, "updated");
  }

  #changed(sessionKey: string, change: "run" | "updated"): void {
    this.#news.send({ kind: "session", change: { sessionKey, change } });
  }

  #attempt(
    { sessionId: sessionKey, runId, attempt, isRepeated }: Source,
    { isAnnounced }: Known,
  ): Parameters<RunPublisher["tell"]>[0] {
    return { sessionKey, runId, attempt, isRepeated, isAnnounced };
  }

  #of(sessionKey: string, runId: string): Known {
    const name = nameOf(sessionKey, runId);
    const found = this.#known.get(name);
    if (found !== undefined) return found;
    const known = { isAnnounced: false, hasEvents: false };
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

function nameOf(sessionKey: string, runId: string): string {
  return JSON.stringify([sessionKey, runId]);
}
