/** What the parts of a gateway in a cluster share. */
import type { Clock } from "@bowline/core";
import type { PostgresStore } from "@bowline/postgres";
import type { RestateAdmin, RestateClient } from "@bowline/restate";
import type { ResolvedAgents, SecretFilter } from "bowline/engine";
import type { GatewayLimits } from "bowline/gateway";
import type { Relay } from "../relay/relay.ts";
import type { SessionChoices } from "./choices.ts";
import type { InOrder } from "./in-order.ts";
import type { NewsDesk } from "./news.ts";

export interface GatewayParts {
  readonly store: PostgresStore;
  readonly restate: RestateClient;
  readonly admin: RestateAdmin | undefined;
  readonly relay: Relay;
  readonly news: NewsDesk;
  readonly agents: ResolvedAgents;
  readonly choices: SessionChoices;
  readonly filter: SecretFilter;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly createId: () => string;
  /** Orders what this gateway does with a session: messages, and what ends everything in it. */
  readonly inOrder: InOrder;
  /** The folder in which commands run. */
  readonly workingDir: string;
  /** Whether what people allow from then on is remembered. */
  readonly isRemembering: boolean;
  readonly maxRunsPerUser: number | undefined;
  /** Takes the error of work in the background, which is retried. */
  readonly report: (error: unknown) => void;
}
