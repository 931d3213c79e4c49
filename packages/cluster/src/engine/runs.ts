/** The runs of a cluster, as the entry points of a gateway need them. */
import type { UserMessage } from "@bowline/core";
import type { OpenRun, WaitingInput } from "@bowline/postgres";
import type { RunInfo } from "bowline/client";
import {
  isMissing,
  queuedRun,
  waitingMessage,
  type Accepted,
  type EngineRuns,
  type Followed,
  type FollowedRun,
  type MessageKind,
  type OwnedMessage,
  type RunFrame,
  type RunPosition,
} from "bowline/engine";
import { abortRuns, openRuns } from "./aborts.ts";
import { Acceptance } from "./acceptance.ts";
import { readMetadata } from "./message-metadata.ts";
import type { GatewayParts } from "./parts.ts";

type Waiting = Awaited<ReturnType<EngineRuns["waitingIn"]>>[number];

const kinds = { start: "send", steering: "steer", followUp: "followUp" } as const;

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
  }: {
    readonly sessionKey?: string;
    readonly runId?: string;
  }): Promise<readonly string[]> {
    const key = sessionKey ?? (runId === undefined ? undefined : await this.sessionOf(runId));
    return key === undefined ? [] : abortRuns(this.#parts, key, runId);
  }

  async follow(params: {
    readonly sessionKey: string;
    readonly runId?: string;
    readonly seq?: number;
  }): Promise<Followed> {
    const { sessionKey, runId, seq } = params;
    const followed = await this.#parts.relay.follow(params);
    const open = await openRuns(this.#parts, sessionKey);
    const known = followed.runs.filter(({ state }) => state !== "unknown" && state !== "queued");
    const added = open.filter((run) => !known.some((info) => info.runId === run.runId));
    const runs = [...known, ...added.map((run) => this.#infoOf(run))];
    const isAskedQueued = added.some((run) => run.runId === runId && run.state === "queued");
    const first =
      isAskedQueued && runId !== undefined ? await this.#firstOf(sessionKey, runId, seq) : [];
    if (runId !== undefined && !runs.some((info) => info.runId === runId))
      runs.push({ runId, sessionKey, state: "unknown", seq: -1 });
    return { runs, missed: () => [...first, ...followed.missed()] };
  }

  async followRun({ sessionKey, runId, seq }: RunPosition): Promise<FollowedRun | undefined> {
    const { relay } = this.#parts;
    const isQueued = (await openRuns(this.#parts, sessionKey)).some(
      (run) => run.runId === runId && run.state === "queued",
    );
    const followed = await relay.followRun({ sessionKey, runId, seq });
    if (followed !== undefined && followed.info.state !== "queued") return followed;
    if (!isQueued) return followed;
    relay.note(sessionKey, runId);
    const first = await this.#firstOf(sessionKey, runId, seq);
    const info: RunInfo = followed?.info ?? { runId, sessionKey, state: "queued", seq: -1 };
    return {
      info,
      missed: () => [...first, ...(followed?.missed() ?? [])],
      release: () => followed?.release(),
    };
  }

  async waitingIn(sessionKey: string): Promise<readonly Waiting[]> {
    return (await this.#waiting(sessionKey)).map((waiting) => this.#shown(waiting));
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
    return (await openRuns(this.#parts, sessionKey)).map((run) => this.#infoOf(run));
  }

  #infoOf({ sessionId: sessionKey, runId, state }: OpenRun): RunInfo {
    if (state === "queued") this.#parts.relay.note(sessionKey, runId);
    return { runId, sessionKey, state, seq: -1 };
  }

  /** The first event of a run that waits, which no worker has. */
  async #firstOf(
    sessionKey: string,
    runId: string,
    seq: number | undefined,
  ): Promise<readonly RunFrame[]> {
    const { limits } = this.#parts;
    const waiting = (await this.#waiting(sessionKey)).find((one) => one.runId === runId);
    if (waiting === undefined || readMetadata(waiting.metadata).isAnnounced !== true) return [];
    return queuedRun({ runId, sessionKey, limits }, this.#shown(waiting)).since(seq);
  }

  async #waiting(sessionKey: string): Promise<readonly WaitingInput[]> {
    try {
      return await this.#parts.store.durable.waiting(sessionKey);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return [];
    }
  }

  #shown({ id: messageId, queue, message }: WaitingInput): Waiting {
    const { filter } = this.#parts;
    return waitingMessage(message as UserMessage, { messageId, kind: kinds[queue], filter });
  }
}
