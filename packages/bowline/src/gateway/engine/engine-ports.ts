/** The ports that the entry points give to the engine. */
import type { Clock } from "@bowline/core";
import type { Frame } from "../log/outbox.ts";
import type { RunEventName } from "../log/run-log.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { EventData, EventName } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";
import type { Engine } from "./engine.ts";

/** Creates the engine when the options are checked. The entry points open it afterwards. */
export type CreateEngine = (ports: EnginePorts) => Engine | Promise<Engine>;

export interface EnginePorts {
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly createId: () => string;
  /** Redacts the secrets of the options, and the gateway's own tokens. */
  readonly filter: SecretFilter;
  readonly clients: Clients;
}

/** The connected clients of this process, by the sessions that they follow. */
export interface Clients {
  /** Sends an event of a run to the clients that follow its session. */
  toFollowers(sessionKey: string, frame: Frame, event: RunEventName): void;
  /** Sends an event of a run to the clients that may see its session and do not follow it. */
  toOthers(sessionKey: string, frame: Frame, event: RunEventName): void;
  /**
   * Sends an event to all clients. An event of a session goes only to clients that may see the
   * session.
   */
  broadcast<E extends EventName>(event: E, data: EventData<E>): void;
  /** Returns true if a client follows the session. */
  isFollowed(sessionKey: string): boolean;
  /**
   * Calls `listener` when the first client follows a session, and when the last one leaves it. There
   * is one listener; a second call replaces it.
   */
  watch(listener: (sessionKey: string, isFollowed: boolean) => void): void;
}
