/** What the relay of a gateway works with. */
import type { Clock } from "@bowline/core";
import type { Clients, StoredEnd, StoredRun, StoredSession } from "bowline/engine";
import type { GatewayLimits } from "bowline/gateway";
import type { Bus } from "../bus/bus.ts";
import type { Subjects } from "../wire/subjects.ts";
import type { Asker } from "./asker.ts";

export interface RelayPorts {
  readonly bus: Bus;
  readonly subjects: Subjects;
  readonly asker: Asker;
  readonly clients: Clients;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  /** Returns the run's end in the stored session. Undefined while it has none. */
  readonly endOf: (sessionKey: string, runId: string) => Promise<StoredEnd | undefined>;
  /** Returns the `seq` of the last entry of the stored session; -1 without one. */
  readonly lastSeq: (sessionKey: string) => Promise<number>;
  readonly read: (sessionKey: string) => Promise<StoredSession>;
  /** Returns the open runs that PostgreSQL has, of which no worker may have heard. */
  readonly open: (sessionKey: string, runId: string | undefined) => Promise<readonly StoredRun[]>;
  /** Returns a run that was cancelled before it began. Undefined for any other. */
  readonly cancelled: (sessionKey: string, runId: string) => Promise<StoredRun | undefined>;
  /** The run of the stored session that has no end. */
  readonly openRun: (sessionKey: string) => Promise<string | undefined>;
}
