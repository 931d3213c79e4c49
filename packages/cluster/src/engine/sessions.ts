/** The session methods of a cluster, over PostgreSQL. */
import { isBowlineError } from "@bowline/core";
import { openSession, type EntryBody, type SessionSummary } from "@bowline/core/session";
import type { DurableItem } from "@bowline/postgres";
import {
  checkPatch,
  choiceEntries,
  DEFAULT_AGENT,
  findAgent,
  GatewayError,
  isMissing,
  listOwn,
  noAgent,
  ownedBy,
  titleFrom,
  toSessionInfo,
  type EngineSessions,
  type OwnedMessage,
} from "bowline/engine";
import { quiet } from "./aborts.ts";
import type { GatewayParts } from "./parts.ts";
import type { ClusterRuns } from "./runs.ts";

type Params<Name extends keyof EngineSessions> = Parameters<EngineSessions[Name]>[0];
type OneSession = ReturnType<EngineSessions["get"]>;
type SessionInfo = Awaited<OneSession>["session"];
type User = NonNullable<OwnedMessage["user"]>;

/** How often a run may begin in the moment of a reset. */
const MAX_RESETS = 5;

export class ClusterSessions implements EngineSessions {
  readonly #parts: GatewayParts;
  readonly #runs: ClusterRuns;

  constructor(parts: GatewayParts, runs: ClusterRuns) {
    this.#parts = parts;
    this.#runs = runs;
  }

  async create(params: Params<"create">, user: User): OneSession {
    const { store, agents, clock, createId } = this.#parts;
    const { sessionKey = createId(), agentId, title } = params;
    const agent = findAgent(await agents.agents(), agentId);
    if (agent === undefined && agentId !== undefined) throw noAgent(agentId);
    const metadata = { agentId: agent?.id ?? DEFAULT_AGENT, ...ownedBy(user) };
    const header = { id: sessionKey, createdAt: clock.now(), metadata };
    const entries = title === undefined ? [] : [{ type: "title", title } as const];
    try {
      const writer = await store.create(header, this.#entries(entries));
      await writer.close();
    } catch (error) {
      throw isBowlineError(error) && error.code === "invalid_state" ? alreadyThere() : error;
    }
    return this.#changed(sessionKey, "created");
  }

  async list(
    { search, limit = 50, cursor }: Params<"list">,
    beginning?: string,
  ): ReturnType<EngineSessions["list"]> {
    const options = { search, limit, cursor };
    const page = await listOwn(this.#parts.store, options, beginning);
    const { filter } = this.#parts;
    const runsOf = await this.#runs.ofSessions();
    const sessions = await Promise.all(
      page.sessions.map(async (summary) =>
        toSessionInfo(summary, { filter, runs: await runsOf(summary.id) }),
      ),
    );
    return { sessions, ...(page.cursor !== undefined && { cursor: page.cursor }) };
  }

  async get({ sessionKey }: Params<"get">): OneSession {
    return { session: await this.#info(await this.#parts.store.summary(sessionKey)) };
  }

  async patch(params: Params<"patch">): OneSession {
    const { store, agents, choices } = this.#parts;
    const { sessionKey, title } = params;
    const host = { store, agents: agents.agents, backendFor: agents.backendFor, choices };
    const choice = await checkPatch(host, params);
    const chosen = await choiceEntries(agents, choice);
    await this.#append(sessionKey, [...(title === undefined ? [] : [titled(title)]), ...chosen]);
    return this.#changed(sessionKey, "updated");
  }

  /** Messages that arrive at this gateway meanwhile are accepted afterwards; the same in `delete`. */
  reset({ sessionKey }: Params<"reset">): OneSession {
    return this.#parts.inOrder.run(sessionKey, () => this.#reset(sessionKey));
  }

  delete({ sessionKey }: Params<"delete">): ReturnType<EngineSessions["delete"]> {
    return this.#parts.inOrder.run(sessionKey, () => this.#delete(sessionKey));
  }

  async #reset(sessionKey: string): OneSession {
    const { store, agents, choices } = this.#parts;
    await store.load(sessionKey); // throws not_found before any run is aborted
    for (let tries = 1; ; tries++) {
      await quiet(this.#parts, sessionKey);
      const { session } = await this.get({ sessionKey });
      const chosen = await choiceEntries(agents, await choices.of(sessionKey));
      // The new beginning keeps the title and the chosen agent and model.
      const title = titled(session.title ?? titleFrom(sessionKey));
      // A message of another gateway may have begun a run in the old conversation since.
      if (await store.durable.rewind(sessionKey, this.#items([title, ...chosen]))) break;
      if (tries === MAX_RESETS) throw tooBusy();
    }
    return this.#changed(sessionKey, "reset");
  }

  async #delete(sessionKey: string): ReturnType<EngineSessions["delete"]> {
    const { store, admin, news } = this.#parts;
    try {
      await quiet(this.#parts, sessionKey);
      // The journal has messages and results too. A run that begins now finds no session.
      await store.durable.takeEpoch(sessionKey);
      await admin?.forget(sessionKey);
      await store.delete(sessionKey);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return { deleted: false };
    }
    news.changed({ sessionKey, change: "deleted" });
    return { deleted: true };
  }

  async fork({ sessionKey, newSessionKey, at }: Params<"fork">): OneSession {
    const { store, createId } = this.#parts;
    const id = newSessionKey ?? createId();
    if (id === sessionKey) throw alreadyThere();
    const session = await openSession(store, sessionKey, { readOnly: true });
    const made = await session.fork({ id, ...(at !== undefined && { at }) });
    await made.close();
    return this.#changed(id, "created");
  }

  /** Appends entries, also during a run. */
  async #append(sessionKey: string, bodies: readonly EntryBody[]): Promise<void> {
    if (bodies.length === 0) return;
    await this.#parts.store.durable.append(sessionKey, undefined, this.#items(bodies));
  }

  #items(bodies: readonly EntryBody[]): DurableItem[] {
    return bodies.map((body) => ({ key: this.#parts.createId(), body }));
  }

  /** Returns the entries of a new session. */
  #entries(bodies: readonly EntryBody[]): Parameters<GatewayParts["store"]["create"]>[1] {
    const { clock, createId } = this.#parts;
    return bodies.map((body, seq) => ({
      ...body,
      seq,
      id: createId(),
      parentId: null,
      timestamp: clock.now(),
    }));
  }

  async #changed(sessionKey: string, change: "created" | "updated" | "reset"): OneSession {
    const { session } = await this.get({ sessionKey });
    const { model, agentId } = session;
    const chosen =
      change === "updated" ? { ...(model && { model }), ...(agentId && { agentId }) } : {};
    this.#parts.news.changed({ sessionKey, change, ...chosen });
    return { session };
  }

  async #info(summary: SessionSummary): Promise<SessionInfo> {
    const runs = await this.#runs.ofSession(summary.id);
    return toSessionInfo(summary, { filter: this.#parts.filter, runs });
  }
}

function titled(title: string): Extract<EntryBody, { readonly type: "title" }> {
  return { type: "title", title };
}

function tooBusy(): GatewayError {
  return new GatewayError("busy", "Runs of the session begin all the time. Try again.", {
    retryable: true,
  });
}

function alreadyThere(): GatewayError {
  return new GatewayError("conflict", "A session with this key already exists.");
}
