/** Calls the application's functions that make agents: a new agent for each run. */
import { BowlineError, isBowlineError, type Model } from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import type { User } from "../access/user.ts";
import { DEFAULT_AGENT, type KnownAgent } from "./agent-entry.ts";
import { referenceOf } from "./choices.ts";
import { noAgent } from "./session-agent.ts";

/**
 * Makes the agent of one run, within a minute. Called once per run, and again when a run is resumed
 * after a restart.
 *
 * `user` is the person whose message the run answers, not a person who steered it later. A resumed
 * run gets the same user, who is stored with the message. If an earlier version stored the message,
 * it gets the user who created the session. `user.id` is undefined unless `authorize` names users.
 * `user.sessions` is undefined unless `authorize` limits the user to some sessions.
 *
 * The agent must be new and have no messages: the gateway gives it those of the session. An error
 * ends the run with `chat.error`: a `BowlineError` with its own code, any other with `hook_failed`.
 * Clients see its message, with known secrets redacted. The session continues with the next
 * message.
 */
export type CreateAgent = (sessionKey: string, user: User) => Agent | Promise<Agent>;

export class AgentMakers {
  readonly #makers: ReadonlyMap<string, CreateAgent>;
  readonly #made = new WeakSet<Agent>();
  readonly #models = new Map<string, Model>();

  /** A single function makes the agent `assistant`. */
  constructor(agents: CreateAgent | Readonly<Record<string, CreateAgent>>) {
    const makers = typeof agents === "function" ? { [DEFAULT_AGENT]: agents } : agents;
    this.#makers = new Map(Object.entries(makers));
  }

  list(): KnownAgent[] {
    return [...this.#makers.keys()].map((id) => {
      const model = this.modelOf(id);
      const reference = model && referenceOf({ provider: model.provider, model: model.id });
      return { id, description: "", ...(reference !== undefined && { model: reference }) };
    });
  }

  /** Returns the model of the last agent that was made. Returns undefined before the first. */
  modelOf(id: string): Model | undefined {
    return this.#models.get(id);
  }

  /**
   * Makes an agent. Rejects with the function's error, as `hook_failed` unless it is a
   * `BowlineError`. Rejects with `invalid_state` for an agent that is not new, and with `not_found`
   * for an unknown id.
   */
  async make(id: string, sessionKey: string, user: User): Promise<Agent> {
    const create = this.#makers.get(id);
    if (create === undefined) throw noAgent(id);
    const agent: unknown = await callMaker(() => create(sessionKey, user));
    if (!isAgent(agent)) throw refused("returned no Agent");
    if (this.#made.has(agent)) throw refused("returned an agent that it had returned before");
    if (agent.state.isStreaming) throw refused("returned an agent that is running");
    if (agent.state.messages.length > 0)
      throw refused("returned an agent that has messages already");
    this.#made.add(agent);
    this.#models.set(id, agent.state.model);
    return agent;
  }
}

async function callMaker(create: () => unknown): Promise<unknown> {
  try {
    return await create();
  } catch (error) {
    if (isBowlineError(error)) throw error;
    const why = error instanceof Error ? error.message : "it threw no Error";
    throw new BowlineError("hook_failed", `The agent could not be made: ${why}`, { cause: error });
  }
}

/** Accepts agents of another copy of the package too, so `instanceof` would not do. */
function isAgent(value: unknown): value is Agent {
  const { prompt, subscribe, state } = (value ?? {}) as Partial<Record<keyof Agent, unknown>>;
  return (
    typeof prompt === "function" && typeof subscribe === "function" && typeof state === "object"
  );
}

function refused(what: string): BowlineError {
  return new BowlineError(
    "invalid_state",
    `The function that makes agents ${what}. Return a new Agent from each call.`,
  );
}
