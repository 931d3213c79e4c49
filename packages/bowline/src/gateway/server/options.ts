/** The options of `createGateway` and `startGateway`. Unknown names are refused, not ignored. */
import type { Clock } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { Store } from "@bowline/core/session";
import type { EntryOptions } from "../access/access.ts";
import { checkAgents, ofAgents, type AgentOptions } from "../agents/agent-options.ts";
import { defaultLimits, type GatewayLimits } from "../protocol/limits.ts";
import type { Pending } from "../runs/pending.ts";
import type { Rules } from "../../policy/rules.ts";

/** The options of the entry points, which do not depend on what runs the agents. */
export interface FrontOptions extends EntryOptions {
  /**
   * Texts that are redacted from everything sent to clients. Texts shorter than 8 characters are
   * not redacted.
   */
  readonly secrets?: readonly string[];
  /** The version that is reported to clients. Default `0`. */
  readonly version?: string;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** Creates the ids of runs, sessions and connections. Default: random UUIDs. */
  readonly createId?: () => string;
  /**
   * Whether clients on other machines are accepted, under any host name. Needed on loopback too if
   * a proxy on this machine forwards them. Default false.
   */
  readonly exposed?: boolean;
  /** Overrides single limits. Default: those of `defaultLimits`. */
  readonly limits?: Partial<GatewayLimits>;
  /**
   * Answers requests that match no route of the gateway, such as with the page of `createPage()`.
   */
  readonly page?: (request: Request) => Response | Promise<Response>;
}

/** The options of one process that do not depend on how agents are given. */
interface SharedOptions extends FrontOptions {
  /** Stores the sessions. Default: this process's memory. */
  readonly store?: Store;
  /** The folder in which tools work. Approvals show it. Default: the current folder. */
  readonly workspacePath?: string;
  /**
   * Decides which calls run without approval. Default for a list of agents: reading is allowed, all
   * other calls need approval. Default for agents that a function makes: no rules. A call then
   * needs approval if its tool's `needsApproval` or the agent's `beforeToolCall` says so. With
   * rules given, calls that no rule names need approval.
   */
  readonly rules?: Rules;
  /**
   * Stores accepted messages until they are processed. Default: this process's memory. Runs are
   * then not resumed after a restart, whatever the store.
   */
  readonly pending?: Pending;
}

export type DoorOptions = SharedOptions & AgentOptions;

const ofFront: Readonly<Record<keyof FrontOptions, true>> = {
  authorize: true,
  clock: true,
  createId: true,
  exposed: true,
  limits: true,
  page: true,
  secrets: true,
  token: true,
  tokens: true,
  trustProxy: true,
  version: true,
};

const names: Readonly<Record<keyof DoorOptions, true>> = {
  ...ofFront,
  ...ofAgents,
  pending: true,
  rules: true,
  store: true,
  workspacePath: true,
};

/**
 * Throws `invalid_argument` for an unknown option or limit. Also throws if functions make the
 * agents and an option for lists is given. `more` are further known option names.
 */
export function checkOptions(options: DoorOptions, more: readonly string[]): void {
  checkFrontOptions(options, [...Object.keys(names), ...more]);
  checkAgents(options);
}

/** Throws `invalid_argument` for an unknown option or limit. `more` are further known names. */
export function checkFrontOptions(options: FrontOptions, more: readonly string[]): void {
  checkNames(options, [...Object.keys(ofFront), ...more]);
  checkNames(options.limits ?? {}, Object.keys(defaultLimits), "limit");
}
