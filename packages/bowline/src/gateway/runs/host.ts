/** The stores, settings and functions that runs and methods share. */
import type { Store } from "@bowline/core/session";
import type { Approvals } from "../approvals/approvals.ts";
import type { Choices } from "../agents/choices.ts";
import type { Frame } from "../log/outbox.ts";
import type { AgentHost } from "./agent-host.ts";
import type { Pending } from "./pending.ts";
import type { EventName } from "../protocol/protocol.ts";
import type { Rules } from "../../policy/rules.ts";
import type { SecretFilter } from "../../secrets.ts";
import type { SessionChanges } from "./session-changes.ts";

export interface Host extends AgentHost {
  readonly store: Store;
  readonly pending: Pending;
  readonly rules: Rules;
  readonly approvals: Approvals;
  readonly choices: Choices;
  readonly filter: SecretFilter;
  readonly workspacePath: string;
  /** Sends an event of a run to the subscribers of its session. */
  readonly publish: (sessionKey: string, frame: Frame, event: EventName) => void;
  readonly sessionChanges: SessionChanges;
}
