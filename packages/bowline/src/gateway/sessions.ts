/** The session methods: over the store, and over the lane where the session may be in use. */
import { isBowlineError } from "@bowline/core";
import { addToSummary, summaryOf, type Session, type SessionSummary } from "@bowline/core/session";
import { DEFAULT_AGENT, findAgent } from "./agents-file.ts";
import { GatewayError } from "./gateway-error.ts";
import type { Host } from "./host.ts";
import type { Events, Params, Result, SessionInfo } from "./protocol.ts";
import type { Runs } from "./runs.ts";

type OneSession = Promise<Result<"sessions.get">>;

export class Sessions {
  readonly #host: Host;
  readonly #runs: Runs;

  constructor(host: Host, runs: Runs) {
    this.#host = host;
    this.#runs = runs;
  }

  async create({ sessionKey = this.#host.createId(), agentId, title }: Params<"sessions.create">): OneSession {
    const { store, agents } = this.#host;
    const agent = findAgent(await agents(), agentId);
    if (agent === undefined && agentId !== undefined)
      throw new GatewayError("not_found", `AGENTS.md has no agent ${JSON.stringify(agentId)}.`);
    const lane = this.#runs.lane(sessionKey);
    const isNew = await store.load(sessionKey).then(() => false, isMissing);
    if (!isNew) throw new GatewayError("conflict", "There is a session of this key already.");
    await lane.write(
      async (session) => {
        if (title !== undefined) await session.rename(title);
      },
      { agentId: agent?.id ?? DEFAULT_AGENT },
    );
    return this.#changed(sessionKey, "created");
  }

  async list({ search, limit = 50, cursor }: Params<"sessions.list">): Promise<Result<"sessions.list">> {
    const page = await this.#host.store.list({ search, limit, cursor });
    const sessions = page.sessions.map((summary) => this.#info(summary));
    return { sessions, ...(page.cursor !== undefined && { cursor: page.cursor }) };
  }

  async get({ sessionKey }: Params<"sessions.get">): OneSession {
    const { store } = this.#host;
    let summary = summaryOf(await store.load(sessionKey));
    for await (const batch of store.read(sessionKey)) summary = batch.reduce(addToSummary, summary);
    return { session: this.#info(summary) };
  }

  async patch({ sessionKey, title }: Params<"sessions.patch">): OneSession {
    await this.#runs.lane(sessionKey).write((session) => session.rename(title));
    return this.#changed(sessionKey, "updated");
  }

  async reset({ sessionKey }: Params<"sessions.reset">): OneSession {
    const { session } = await this.get({ sessionKey });
    await this.#quiet(sessionKey);
    await this.#runs.lane(sessionKey).write(async (held) => {
      await held.rewind(null);
      // The new beginning; the title stays.
      await held.rename(session.title ?? sessionKey.slice(0, 200));
    });
    return this.#changed(sessionKey, "reset");
  }

  async delete({ sessionKey }: Params<"sessions.delete">): Promise<Result<"sessions.delete">> {
    await this.#quiet(sessionKey);
    const lane = this.#runs.lane(sessionKey);
    const isGone = await lane.exclusive(() =>
      this.#host.store.delete(sessionKey).then(
        () => true,
        (error: unknown) => !isMissing(error),
      ),
    );
    for (const { pending } of lane.held.splice(0)) await this.#host.pending.remove(pending.id);
    if (isGone) this.#host.broadcast("sessions.changed", { sessionKey, change: "deleted" });
    return { deleted: isGone };
  }

  async fork({ sessionKey, newSessionKey, at }: Params<"sessions.fork">): OneSession {
    const id = newSessionKey ?? this.#host.createId();
    const where = { id, ...(at !== undefined && { at }) };
    const fork = (session: Session): Promise<void> => session.fork(where).then((made) => made.close());
    await this.#runs.lane(sessionKey).write(fork);
    return this.#changed(id, "created");
  }

  async #quiet(sessionKey: string): Promise<void> {
    this.#runs.abort({ sessionKey });
    await this.#runs.idle(sessionKey);
  }

  async #changed(sessionKey: string, change: Events["sessions.changed"]["change"]): OneSession {
    this.#host.broadcast("sessions.changed", { sessionKey, change });
    return this.get({ sessionKey });
  }

  #info({ id, title, metadata, createdAt, updatedAt, messageCount, origin }: SessionSummary): SessionInfo {
    const agentId = metadata?.agentId;
    return {
      sessionKey: id,
      ...(title !== undefined && { title: this.#host.filter.text(title) }),
      ...(typeof agentId === "string" && { agentId }),
      createdAt,
      updatedAt,
      messageCount,
      ...(origin !== undefined && { forkedFrom: origin.sessionId }),
      runs: this.#runs.ofSession(id),
    };
  }
}

/** Whether it says that there is no such session; throws what says anything else. */
function isMissing(error: unknown): boolean {
  if (isBowlineError(error) && error.code === "not_found") return true;
  throw error;
}
