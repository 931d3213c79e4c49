/** The session methods. They use the store, and the session's lane while it may be in use. */
import { addToSummary, summaryOf, type Session, type SessionSummary } from "@bowline/core/session";
import { DEFAULT_AGENT, findAgent } from "../agents/agent-entry.ts";
import type { Choice } from "../agents/choices.ts";
import type { EngineSessions } from "../engine/engine.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { User } from "../access/user.ts";
import type { Host } from "../runs/host.ts";
import { isMissing } from "../../is-missing.ts";
import type { Events, Holder, Params, Result, SessionInfo } from "../protocol/protocol.ts";
import { listOwn } from "./list-own.ts";
import type { Runs } from "../runs/runs.ts";
import { noAgent } from "../agents/session-agent.ts";
import { checkPatch, choiceEntries } from "./choice-entries.ts";
import { titleFrom } from "./session-title.ts";
import { toSessionInfo } from "./session-info.ts";

type OneSession = Promise<Result<"sessions.get">>;

export class Sessions implements EngineSessions {
  readonly #host: Host;
  readonly #runs: Runs;

  constructor(host: Host, runs: Runs) {
    this.#host = host;
    this.#runs = runs;
  }

  async create(
    { sessionKey = this.#host.createId(), agentId, title }: Params<"sessions.create">,
    user: User,
  ): OneSession {
    const agent = findAgent(await this.#host.agents(), agentId);
    if (agent === undefined && agentId !== undefined) throw noAgent(agentId);
    const isNew = await this.#runs.lane(sessionKey).create(agent?.id ?? DEFAULT_AGENT, user, title);
    if (!isNew) throw alreadyThere();
    return this.#changed(sessionKey, "created");
  }

  async list(
    { search, limit = 50, cursor }: Params<"sessions.list">,
    beginning?: string,
  ): Promise<Result<"sessions.list">> {
    const page = await listOwn(this.#host.store, { search, limit, cursor }, beginning);
    const sessions = await Promise.all(page.sessions.map((summary) => this.#info(summary)));
    return { sessions, ...(page.cursor !== undefined && { cursor: page.cursor }) };
  }

  async get({ sessionKey }: Params<"sessions.get">): OneSession {
    const { store } = this.#host;
    let summary = summaryOf(await store.load(sessionKey));
    for await (const batch of store.read(sessionKey)) summary = batch.reduce(addToSummary, summary);
    return { session: await this.#info(summary) };
  }

  /** Throws `bad_params` if this server cannot use the model, or if there is nothing to change. */
  async patch(params: Params<"sessions.patch">): OneSession {
    const { sessionKey, title, model, agentId } = params;
    const { choices } = this.#host;
    const choice = await checkPatch(this.#host, params);
    await this.#runs.lane(sessionKey).write(async (session) => {
      if (title !== undefined) await session.rename(title);
      await this.#record(session, choice);
      // while the session is locked, so that the next writer reads the new choice
      choices.forget(sessionKey);
    });
    if (agentId !== undefined || model !== undefined) await this.#runs.useChoice(sessionKey);
    return this.#changed(sessionKey, "updated");
  }

  async #record(session: Session, choice: Choice): Promise<void> {
    for (const entry of await choiceEntries(this.#host, choice)) await session.append(entry);
  }

  async reset({ sessionKey }: Params<"sessions.reset">): OneSession {
    const lane = this.#runs.lane(sessionKey);
    // Messages that arrive meanwhile are handled afterwards; the same in `delete`.
    await lane.inOrder(async () => {
      await this.#host.store.load(sessionKey); // throws not_found before any run is aborted
      await this.#runs.quiet(sessionKey);
      await lane.write(async (held) => {
        // Read both now: they may have changed in the meantime.
        const { session } = await this.get({ sessionKey });
        const choice = await this.#host.choices.of(sessionKey);
        await held.rewind(null);
        // The new beginning keeps the title and the chosen agent and model.
        await held.rename(session.title ?? titleFrom(sessionKey));
        await this.#record(held, choice);
      });
    });
    return this.#changed(sessionKey, "reset");
  }

  async delete({ sessionKey }: Params<"sessions.delete">): Promise<Result<"sessions.delete">> {
    const lane = this.#runs.lane(sessionKey);
    const isGone = await lane.inOrder(async () => {
      await this.#runs.quiet(sessionKey);
      await this.#host.rules.forget?.(sessionKey);
      const deleted = await lane.exclusive(() =>
        this.#host.store.delete(sessionKey).then(
          () => true,
          (error: unknown) => {
            if (!isMissing(error)) throw error;
            return false;
          },
        ),
      );
      this.#host.choices.forget(sessionKey);
      return deleted;
    });
    if (isGone) this.#host.sessionChanges.add({ sessionKey, change: "deleted" });
    return { deleted: isGone };
  }

  async fork({ sessionKey, newSessionKey, at }: Params<"sessions.fork">): OneSession {
    // Without this check, the session would be reported as locked by itself.
    if (newSessionKey === sessionKey) throw alreadyThere();
    const id = newSessionKey ?? this.#host.createId();
    const where = { id, ...(at !== undefined && { at }) };
    const fork = (session: Session): Promise<void> =>
      session.fork(where).then((made) => made.close());
    const [from, to] = [this.#runs.lane(sessionKey), this.#runs.lane(id)];
    // The first message under the new key waits for the fork. Lanes are locked in a fixed order, so
    // that two forks cannot deadlock.
    await (id < sessionKey
      ? to.exclusive(() => from.write(fork))
      : from.write((session) => to.exclusive(() => fork(session))));
    this.#host.choices.forget(id);
    return this.#changed(id, "created");
  }

  async #changed(sessionKey: string, change: Events["sessions.changed"]["change"]): OneSession {
    const { session } = await this.get({ sessionKey });
    const { model, agentId } = session;
    const chosen =
      change === "updated" ? { ...(model && { model }), ...(agentId && { agentId }) } : {};
    this.#host.sessionChanges.add({ sessionKey, change, ...chosen });
    return { session };
  }

  async #info(summary: SessionSummary): Promise<SessionInfo> {
    const { id } = summary;
    const { isThisProcess = true, ...holder } =
      (await this.#host.store.holder(id).catch(() => undefined)) ?? {};
    const runs = this.#runs.ofSession(id);
    return {
      ...toSessionInfo(summary, { filter: this.#host.filter, runs }),
      ...(!isThisProcess && { heldBy: holder as Holder }),
    };
  }
}

function alreadyThere(): GatewayError {
  return new GatewayError("conflict", "A session with this key already exists.");
}
