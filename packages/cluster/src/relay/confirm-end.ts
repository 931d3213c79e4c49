/** Waits until the stored session has the end of a run whose last event is here. */
import type { StoredEnd } from "bowline/engine";
import type { Tracked } from "./tracked-run.ts";

/** How often the stored session is asked, in milliseconds, at first. */
const CONFIRM_MS = 20;

export interface ConfirmPorts {
  readonly endOf: () => Promise<StoredEnd | undefined>;
  /** Passes on the last event. */
  readonly confirm: () => void;
  /** Passes on the stored run instead. */
  readonly settle: () => Promise<void>;
  readonly setTimer: (ms: number, fire: () => void) => () => void;
}

/** Gives up after a while; the next tick asks again. */
export async function confirmEnd(run: Tracked, ports: ConfirmPorts): Promise<void> {
  const { track } = run;
  if (run.isConfirming) return;
  run.isConfirming = true;
  for (let ms = CONFIRM_MS; ms <= CONFIRM_MS * 32 && track.isEnding; ms *= 2) {
    const end = await ports.endOf().catch(() => undefined);
    // An attempt that was taken over may have ended otherwise than the run.
    if (end !== undefined && track.endsAs(end.state)) ports.confirm();
    else if (end !== undefined) await ports.settle();
    else await new Promise<void>((resolve) => void ports.setTimer(ms, resolve));
  }
  run.isConfirming = false;
}
