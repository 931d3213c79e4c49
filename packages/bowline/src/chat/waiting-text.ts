/** What the screen says about waiting messages. */
import type { Missing, WaitMoment } from "./waiting.ts";

export const momentWords: Readonly<Record<WaitMoment, string>> = {
  steering: "after this step",
  followUp: "after the turn",
  early: "as soon as it can be sent",
};

/** Why a message cannot be edited or removed. */
export function missingText(id: number, why: Missing): string {
  switch (why) {
    case "taken":
      return `Message ${id} is on its way: the run has taken it.`;
    case "gone":
      return `Message ${id} waits no more: it was sent or removed.`;
    case "unknown":
      return `No message has the number ${id}. /queue lists them.`;
  }
}
