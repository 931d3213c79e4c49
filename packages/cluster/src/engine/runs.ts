/** The runs of a cluster, as the entry points of a gateway need them. */
import type { OpenRun } from "@bowline/postgres";
import type { RunInfo } from "bowline/client";
import type {
  Accepted,
  EngineRuns,
  Followed,
  FollowedRun,
  MessageKind,
  OwnedMessage,
  RunPosition,
} from "bowline/engine";
import { abortRuns } from "./aborts.ts";
import { Acceptance } from "./acceptance.ts";
import { endIfLost } from "./lost-runs.ts";
import { openRuns, shownWaiting, waitingInputs } from "./open-runs.ts";
import type { GatewayParts } from "./parts.ts";

/** The most open runs that are read at once for a list of sessions. */
const MOST_OPEN = 1000;

type Waiting = Awaited<ReturnType<EngineRuns["waitingIn"]>>;

export class ClusterRuns implements EngineRuns {
  readonly #parts: GatewayParts;
  readonly #acceptance: Acceptance;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.#acceptance = new Acceptance(parts);
  }

  async count(): Promise<number> {
    return (await this.#parts.store.durable.countRuns()).running;
  }

  accept(params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    return this.#acceptance.accept(params, kind);
  }

  async abort({
    sessionKey,
    runId,
  }: Parameters<EngineRuns["abort"]>[0]): Promise<readonly string[]> {
    const key = sessionKey ?? (runId === undefined ? undefined : await this.sessionOf(runId));
    if (key === undefined) return [];
    const runIds = await abortRuns(this.#parts, key, runId);
    if (runIds.length > 0) endIfLost(this.#parts, key, runIds);
    return runIds;
  }

  follow(params: Parameters<EngineRuns["follow"]>[0]): Promise<Followed> {
    return this.#parts.relay.follow(params);
  }

  followRun(position: RunPosition): Promise<FollowedRun | undefined> {
    return this.#parts.relay.followRun(position);
  }

  async waitingIn(sessionKey: string): Promise<Waiting> {
    const waiting = await waitingInputs(this.#parts, sessionKey);
    return waiting.map((input) => shownWaiting(input, this.#parts));
  }

  async sessionOf(runId: string): Promise<string | undefined> {
    const found = await this.#parts.store.durable.findRun(runId);
    return found.length === 1 ? found[0]?.sessionId : undefined;
  }

  /** Two sessions may use the same key: it is unique in its session. */
  sessionOfMessage(): undefined {
    return undefined;
  }

  /** The runs of a session that have not ended, for its description. */
  async ofSession(sessionKey: string): Promise<readonly RunInfo[]> {
    return (await openRuns(this.#parts, sessionKey)).map(toInfo);
  }

  /** As {@link ofSession}, for a list of sessions. One question, unless very many runs are open. */
  async ofSessions(): Promise<(sessionKey: string) => Promise<readonly RunInfo[]>> {
    const all = await this.#parts.store.durable.openRuns({ limit: MOST_OPEN });
    if (all.length === MOST_OPEN) return (sessionKey) => this.ofSession(sessionKey);
    return async (sessionKey) =>
      all.filter(({ sessionId }) => sessionId === sessionKey).map(toInfo);
  }
}

function toInfo({ sessionId: sessionKey, runId, state }: OpenRun): RunInfo {
  return { runId, sessionKey, state, seq: -1 };
}
