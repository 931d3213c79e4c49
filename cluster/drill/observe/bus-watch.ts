/** Hears the live events of all sessions on the bus, and notes when which attempt said what. */
import { connectNats, type Bus } from "@bowline/cluster";
import { toEvent } from "../../../packages/cluster/src/wire/messages.ts";
import { Parcels } from "../../../packages/cluster/src/wire/parcel.ts";
import { Subjects } from "../../../packages/cluster/src/wire/subjects.ts";
import type { BusEvent } from "../evidence.ts";

const MAX_BYTES = 16 * 1024 * 1024;

export class BusWatch {
  readonly events: BusEvent[] = [];
  readonly #bus: Bus;

  constructor(bus: Bus, sessions: readonly string[]) {
    this.#bus = bus;
    const subjects = new Subjects("bowline");
    for (const session of sessions) {
      const parcels = new Parcels(MAX_BYTES);
      bus.subscribe(subjects.run(session), ({ payload }) => {
        const parcel = parcels.take(payload);
        const heard = parcel && toEvent(parcel);
        if (heard === undefined) return;
        const { runId, attempt, seq, event } = heard;
        this.events.push({ at: Date.now(), session, runId, attempt, seq, event });
      });
    }
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

export async function watchBus(
  servers: readonly string[],
  sessions: readonly string[],
): Promise<BusWatch> {
  return new BusWatch(await connectNats({ servers: [...servers] }), sessions);
}
