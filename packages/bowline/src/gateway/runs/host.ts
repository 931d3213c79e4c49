/** The stores, settings and functions that runs and methods share. */
import type { AgentTool, Clock, Model, StreamFn } from "@bowline/core";
import type { Store } from "@bowline/core/session";
import type { Backend } from "../../models/backend.ts";
import type { KnownAgent } from "../agents/agent-entry.ts";
import type { AgentMakers } from "../agents/agent-makers.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { CheckCall } from "../agents/check-call.ts";
import type { Choices } from "../agents/choices.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Frame } from "../log/outbox.ts";
import type { Pending } from "./pending.ts";
import type { EventName } from "../protocol/protocol.ts";
import type { Rules } from "../../policy/rules.ts";
import type { SecretFilter } from "../../secrets.ts";
import type { SessionChanges } from "./session-changes.ts";

export interface Host {
  readonly store: Store;
  readonly pending: Pending;
  readonly rules: Rules;
  /** True if the application gave the rules. */
  readonly isRuled: boolean;
  readonly approvals: Approvals;
  readonly choices: Choices;
  readonly filter: SecretFilter;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly createId: () => string;
  readonly workspacePath: string;
  /**
   * The application's stream functions, by the provider in a model reference (the part before the
   * slash). They are tried before `backendFor`.
   */
  readonly providers: ReadonlyMap<string, StreamFn>;
  readonly agents: () => Promise<readonly KnownAgent[]>;
  /** The functions that make agents. Empty if agents are a list. */
  readonly makers: AgentMakers;
  /**
   * Returns the model of a listed agent. Returns undefined for an agent that a function makes.
   * Rejects with `invalid_argument` for a model that is not available.
   */
  readonly backendFor: (agent: KnownAgent) => Promise<Backend | undefined>;
  /**
   * Returns the model of an agent. Returns undefined for an agent that a function makes and has not
   * made yet. Rejects as {@link backendFor} does.
   */
  readonly modelFor: (agent: KnownAgent) => Promise<Model | undefined>;
  readonly tools: (sessionKey: string) => AgentTool[];
  /** The application's check of calls that no rule denies. */
  readonly checkCall: CheckCall | undefined;
  readonly systemPrompt: (sessionKey: string) => Promise<string>;
  /** Sends an event of a run to the subscribers of its session. */
  readonly publish: (sessionKey: string, frame: Frame, event: EventName) => void;
  readonly sessionChanges: SessionChanges;
}
