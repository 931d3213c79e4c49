/**
 * What gateways tell each other: changes of sessions, and runs that wait or will not begin. A message
 * that is lost is made up for: clients ask again, and gateways ask the database about silent runs.
 */
import type { Clock } from "@bowline/core";
import type { EventData } from "bowline/client";
import { queuedRun, SessionChanges, type Clients } from "bowline/engine";
import type { GatewayLimits } from "bowline/gateway";
import type { Bus } from "../bus/bus.ts";
import type { Relay } from "../relay/relay.ts";
import { toNews, toNewsPayload, type News } from "../wire/news.ts";

/** Publishes news. Workers have only this. */
export class NewsWire {
  readonly #bus: Bus;
  readonly #subject: string;

  constructor(bus: Bus, subject: string) {
    this.#bus = bus;
    this.#subject = subject;
  }

  send(news: News): void {
    this.#bus.publish(this.#subject, toNewsPayload(news));
  }

  /**
   * Calls the listener with the news that other connections to the bus sent. Returns a function that
   * ends it.
   */
  listen(listener: (news: News) => void): () => void {
    return this.#bus.subscribe(this.#subject, ({ payload }) => {
      const news = toNews(payload);
      if (news !== undefined) listener(news);
    });
  }
}

export interface NewsDeskOptions {
  readonly wire: NewsWire;
  readonly clients: Clients;
  readonly relay: Pick<Relay, "announce" | "settle">;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

/** Passes news on: those of this gateway to the others, and all to the clients here. */
export class NewsDesk {
  readonly #options: NewsDeskOptions;
  readonly #changes: SessionChanges;
  readonly #stop: () => void;

  constructor(options: NewsDeskOptions) {
    this.#options = options;
    const { clients, clock, wire } = options;
    this.#changes = new SessionChanges(clock, (change) =>
      clients.broadcast("sessions.changed", change),
    );
    this.#stop = wire.listen((news) => this.#show(news));
  }

  changed(change: EventData<"sessions.changed">): void {
    this.#tell({ kind: "session", change });
  }

  /** The run of an accepted message waits for its turn. */
  queued(run: Omit<Extract<News, { kind: "queued" }>, "kind">): void {
    this.#tell({ kind: "queued", ...run });
  }

  /** A run is over, and no worker tells its end. */
  over(sessionKey: string, runId: string): void {
    this.#tell({ kind: "over", sessionKey, runId });
  }

  /** Sends what was delayed. */
  flush(): void {
    this.#changes.close();
  }

  close(): void {
    this.#stop();
    this.#changes.close();
  }

  #tell(news: News): void {
    this.#options.wire.send(news);
    this.#show(news);
  }

  #show(news: News): void {
    const { relay, limits, report } = this.#options;
    switch (news.kind) {
      case "session":
        this.#changes.add(news.change);
        break;
      case "queued": {
        const { sessionKey, runId, message } = news;
        for (const told of queuedRun({ runId, sessionKey, limits }, message).since(-1))
          relay.announce(sessionKey, runId, told);
        break;
      }
      case "over":
        relay.settle(news.sessionKey, news.runId).catch(report);
        break;
    }
  }
}
