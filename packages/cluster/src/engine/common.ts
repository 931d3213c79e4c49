/** What both halves of a process are made from. */
import type { PostgresStore } from "@bowline/postgres";
import type { SecretFilter } from "bowline/engine";
import type { Bus } from "../bus/bus.ts";
import { connectNats } from "../bus/nats-bus.ts";
import type { ClusterOptions } from "./options.ts";

/** Called at the end, in order. */
export type Ending = () => unknown;

export interface Common {
  readonly options: ClusterOptions;
  readonly store: PostgresStore;
  readonly filter: SecretFilter;
  readonly report: (error: unknown) => void;
  readonly prefix: string;
  /** The subject of news. */
  readonly subject: string;
  readonly ending: Ending[];
}

/**
 * Connects to NATS. The two halves of a process have a connection each, since a connection does not
 * hear what it sent.
 */
export async function connect({ options, ending }: Common): Promise<Bus> {
  const bus = await connectNats(options.nats);
  ending.unshift(() => bus.close());
  return bus;
}
