/**
 * Approvals of all sessions. The person who can answer may not have the session open, so they go to
 * every client that may see the session.
 */
import { toEvent, type LiveEvent } from "../wire/messages.ts";
import { Parcels } from "../wire/parcel.ts";
import type { RelayPorts } from "./relay-ports.ts";

/** The most approvals that are remembered, so that each is shown once. */
const MAX_SHOWN = 2000;

export class ApprovalRelay {
  readonly #ports: Pick<RelayPorts, "clients" | "endOf">;
  readonly #parcels: Parcels;
  readonly #stop: () => void;
  readonly #shown = new Set<string>();
  readonly #asked = new Set<string>();

  constructor(ports: RelayPorts) {
    this.#ports = ports;
    this.#parcels = new Parcels(ports.limits.maxBufferedBytes * 2);
    this.#stop = ports.bus.subscribe(ports.subjects.approvals, ({ payload }) => {
      const parcel = this.#parcels.take(payload);
      const event = parcel && toEvent(parcel);
      if (event !== undefined) void this.#show(event);
    });
  }

  /** Whether a worker has asked for this approval lately. It may not be in the session yet. */
  wasAsked(approvalId: string): boolean {
    return this.#asked.has(approvalId);
  }

  close(): void {
    this.#stop();
  }

  /** Shows an event once: a later attempt repeats it. Not that of a run that is over. */
  async #show({ runId, event, frame }: LiveEvent): Promise<void> {
    const { sessionKey, approvalId } = idsIn(frame.json);
    if (sessionKey === undefined || approvalId === undefined) return;
    const name = JSON.stringify([event, sessionKey, approvalId]);
    if (this.#shown.has(name)) return;
    addTo(this.#shown, name);
    if (event === "exec.approval_request") addTo(this.#asked, approvalId);
    const end = await this.#ports.endOf(sessionKey, runId).catch(() => undefined);
    if (end === undefined) this.#ports.clients.toOthers(sessionKey, frame, event);
  }
}

function addTo(known: Set<string>, name: string): void {
  known.add(name);
  const [oldest] = known;
  if (known.size > MAX_SHOWN && oldest !== undefined) known.delete(oldest);
}

interface Ids {
  readonly sessionKey?: string;
  readonly approvalId?: string;
}

/** Anything may arrive on a bus. */
function idsIn(json: string): Ids {
  try {
    return (JSON.parse(json) as { readonly data?: Ids }).data ?? {};
  } catch {
    return {};
  }
}
