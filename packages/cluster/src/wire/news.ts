/** The messages among gateways. What is not exactly one of them is ignored. */
import type { EventData } from "bowline/client";

type WaitingMessage = Omit<EventData<"chat.queued">, "runId" | "sessionKey" | "seq">;

export type News =
  | { readonly kind: "session"; readonly change: EventData<"sessions.changed"> }
  /** A message waits, whose run has not begun. */
  | {
      readonly kind: "queued";
      readonly sessionKey: string;
      readonly runId: string;
      readonly message: WaitingMessage;
    }
  /** A run is over, and no worker tells its end. */
  | { readonly kind: "over"; readonly sessionKey: string; readonly runId: string };

/** Begins each message: the kind, and the version of the format. */
const VERSION = "n1";

const changes = ["created", "updated", "deleted", "reset", "run"];
const kinds = ["send", "steer", "followUp", "held"];

export function toNewsPayload(news: News): Uint8Array {
  return new TextEncoder().encode(JSON.stringify([VERSION, news]));
}

/** Returns undefined for anything that is no news. */
export function toNews(payload: Uint8Array): News | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [version, news] = value as unknown[];
  return version === VERSION && isNews(news) ? news : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function isNews(value: unknown): value is News {
  const { kind, change, sessionKey, runId, message } = fieldsOf(value);
  if (kind === "session") return isChange(fieldsOf(change));
  if (!isText(sessionKey) || !isText(runId)) return false;
  return kind === "over" || (kind === "queued" && isMessage(fieldsOf(message)));
}

function isChange({ sessionKey, change, model, agentId }: Fields): boolean {
  const isOptional = [model, agentId].every((text) => text === undefined || isText(text));
  return isText(sessionKey) && changes.includes(String(change)) && isOptional;
}

function isMessage({ messageId, kind, text, images, files, added }: Fields): boolean {
  const isMedia = [images, files, added].every((list) => list === undefined || Array.isArray(list));
  return isText(messageId) && kinds.includes(String(kind)) && isText(text) && isMedia;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
