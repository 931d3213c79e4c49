/**
 * Messages of this tab that are not in a transcript yet: on their way, waiting for their turn, or
 * refused.
 */
import type { RunEvent } from "../../gateway/client/client.ts";
import type { SendResult } from "../../gateway/protocol/protocol.ts";
import type { ReadyImage } from "./sent-image.ts";

/**
 * `steer`: into the run that goes on, before its next model call. `send`: a run of its own, after
 * those that go on and wait.
 */
export type SendMode = "send" | "steer";

export interface Outgoing {
  /** Its idempotency key, and with `send` the run's id. */
  readonly id: string;
  readonly sessionKey: string;
  readonly mode: SendMode;
  readonly text: string;
  readonly images?: readonly ReadyImage[];
  readonly agentId?: string;
  /**
   * `taken`: the server has it and it begins; `waiting`: it waits behind a run, or for its next
   * step.
   */
  readonly state: "sending" | "taken" | "waiting" | "refused";
  readonly problem?: string;
}

interface Arrived {
  readonly text: string;
  readonly messageId?: string;
}

export function noteAnswer(
  outgoing: readonly Outgoing[],
  id: string,
  { status }: SendResult,
): Outgoing[] {
  return outgoing.flatMap((one): Outgoing[] => {
    if (one.id !== id) return [one];
    if (status === "finished") return [];
    // What came too late to steer is a run of its own.
    const mode = status === "steered" ? "steer" : "send";
    return [
      { ...one, mode, state: status === "queued" || status === "steered" ? "waiting" : "taken" },
    ];
  });
}

/** A message that was not taken comes with the reason. */
export function noteRefusal(
  outgoing: readonly Outgoing[],
  id: string,
  problem: string,
): readonly Outgoing[] {
  return outgoing.map((one) => (one.id === id ? { ...one, state: "refused", problem } : one));
}

/**
 * A message that is in a transcript, or whose run ended before it was, is not on its way any more.
 */
export function noteEvent(
  outgoing: readonly Outgoing[],
  { event, data }: RunEvent,
): readonly Outgoing[] {
  if (outgoing.length === 0) return outgoing;
  const { runId, sessionKey } = data;
  const arrived = (messages: readonly Arrived[]): readonly Outgoing[] => {
    // Those that were read from the transcript have no id, and are told by what they say.
    const left = messages
      .filter(({ messageId }) => messageId === undefined)
      .map(({ text }) => text);
    const ids = new Set(messages.map(({ messageId }) => messageId));
    return outgoing.filter((one) => {
      if (one.sessionKey !== sessionKey) return true;
      if (one.id === runId || ids.has(one.id)) return false;
      const index = one.mode === "steer" ? left.indexOf(one.text) : -1;
      if (index >= 0) left.splice(index, 1);
      return index < 0;
    });
  };
  switch (event) {
    case "chat.user":
      return arrived([data]);
    case "chat.snapshot":
      return arrived(data.blocks.filter((block) => block.type === "user"));
    case "chat.final":
    case "chat.error":
    case "chat.aborted":
      return outgoing.filter(({ id }) => id !== runId);
    case "chat.queued":
    case "chat.delta":
    case "chat.thinking":
    case "chat.tool_call":
    case "tool.progress":
    case "chat.tool_result":
    case "chat.turn":
    case "chat.notice":
    case "exec.approval_request":
    case "exec.approval_resolved":
      return outgoing;
  }
}
