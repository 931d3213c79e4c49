/** What a client sends: the message, and the keys under which Restate knows it. */
import { checkNames } from "@bowline/core/agent";
import type { SessionMessage } from "@bowline/core/session";
import { invalid } from "./options.ts";
import type { RunInput } from "./wire.ts";

/** A message for a session. */
export interface ClientMessage {
  /**
   * The client's id of the message, 1 to 512 characters. A message that is sent again under the same
   * id runs once.
   */
  readonly messageId: string;
  /** A text, or a message. */
  readonly message: string | SessionMessage;
  /** The name of the agent, for `createAgent`. Default: that of the session's last run. */
  readonly agent?: string | undefined;
  /**
   * For `submit`: the id of the run, 1 to 256 characters. That of the first submission of the message
   * counts. Default: a random one.
   */
  readonly runId?: string | undefined;
  /** For `submit`: data for `createAgent`, JSON of at most 16 kB. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

const messageNames: Readonly<Record<keyof ClientMessage, true>> = {
  messageId: true,
  message: true,
  agent: true,
  runId: true,
  metadata: true,
};

const LONGEST_ID = 512;
const LONGEST_RUN_ID = 256;
/** After this time, a message that waits is told under another key: its invocation may be dead. */
const KEY_MS = 60_000;
/** The most times that a key changes at twice the time before. It then changes at equal times. */
const DOUBLINGS = 4;

/** Leaves out what is undefined. */
export function runInput(input: {
  readonly [Name in keyof RunInput]: RunInput[Name] | undefined;
}): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/**
 * Returns the idempotency key of a message. It is a header, which has only some characters, and
 * `encodeURIComponent` refuses lone surrogates.
 */
export function keyOf(messageId: string): string {
  if (!/\p{Surrogate}/u.test(messageId)) return encodeURIComponent(messageId);
  return `:${encodeURIComponent(JSON.stringify(messageId))}`;
}

/**
 * Returns the key for a message that has waited for this time, in milliseconds, and that runs have put
 * back: the invocation that they followed is over.
 */
export function keyAfter(messageId: string, waitedMs: number, returns = 0): string {
  const age = ageOf(waitedMs / KEY_MS);
  const key = returns === 0 ? keyOf(messageId) : `${keyOf(messageId)}:back:${returns}`;
  return age === 0 ? key : `${key}:${age}`;
}

/** Returns how often the key has changed: after 1, 2, 4, 8, 16, 32, 48, … minutes. */
function ageOf(minutes: number): number {
  if (minutes < 1) return 0;
  const doublings = Math.min(DOUBLINGS, Math.floor(Math.log2(minutes)));
  const longest = 2 ** doublings;
  return doublings + Math.floor(minutes / longest);
}

/** Checks a message. A text becomes a message of the user. */
export function readMessage(
  sent: ClientMessage,
): ClientMessage & { readonly message: SessionMessage } {
  checkNames(sent, Object.keys(messageNames), "field of a message:");
  const { messageId, message: given } = sent;
  if (typeof messageId !== "string" || messageId === "" || messageId.length > LONGEST_ID)
    throw invalid(`The messageId must be a string of 1 to ${LONGEST_ID} characters.`);
  const { runId } = sent;
  if (runId !== undefined && (runId === "" || runId.length > LONGEST_RUN_ID))
    throw invalid(`The runId must be a string of 1 to ${LONGEST_RUN_ID} characters.`);
  const message: SessionMessage =
    typeof given === "string" ? { role: "user", content: given, timestamp: Date.now() } : given;
  if (typeof (message as Partial<SessionMessage> | null)?.role !== "string")
    throw invalid(
      'The message must be a text, or a message such as { role: "user", content: "…" }.',
    );
  return { ...sent, message };
}
