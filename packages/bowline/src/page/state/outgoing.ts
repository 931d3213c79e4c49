/** Messages of this tab that are not in a transcript yet: being sent, queued or refused. */
import type { RunEvent } from "../../gateway/client/client.ts";
import type { SendResult } from "../../gateway/protocol/protocol.ts";
import type { ReadyImage } from "./sent-image.ts";

/**
 * `steer`: adds the message to the current run, before its next model call. `send`: starts a run
 * after those that are running or queued.
 */
export type SendMode = "send" | "steer";

export interface Outgoing {
  /** The idempotency key, which is the run's id for `send`. */
  readonly id: string;
  readonly sessionKey: string;
  readonly mode: SendMode;
  readonly text: string;
  readonly images?: readonly ReadyImage[];
  readonly agentId?: string;
  /**
   * `taken`: the server accepted it and starts it. `waiting`: it is queued after a run, or for the
   * run's next step.
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
    // A message that came too late to steer becomes its own run.
    const isInto = status === "steered" || status === "waiting";
    const mode = isInto ? "steer" : "send";
    return [{ ...one, mode, state: isInto || status === "queued" ? "waiting" : "taken" }];
  });
}

/** Marks a message as refused, with the reason. */
export function noteRefusal(
  outgoing: readonly Outgoing[],
  id: string,
  problem: string,
): readonly Outgoing[] {
  return outgoing.map((one) => (one.id === id ? { ...one, state: "refused", problem } : one));
}

/** Removes messages that are now in a transcript, or whose run has ended. */
export function noteEvent(
  outgoing: readonly Outgoing[],
  { event, data }: RunEvent,
): readonly Outgoing[] {
  if (outgoing.length === 0) return outgoing;
  const { runId, sessionKey } = data;
  const arrived = (messages: readonly Arrived[]): readonly Outgoing[] => {
    // Messages read from the transcript have no id and are matched by text.
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
