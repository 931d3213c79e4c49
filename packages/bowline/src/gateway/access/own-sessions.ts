/**
 * What a caller may ask who has sessions of their own: those whose keys begin in a certain way, and
 * what belongs to these.
 */
import { GatewayError } from "../protocol/gateway-error.ts";
import type { MethodName } from "../protocol/protocol.ts";

type Json = Readonly<Record<string, unknown>>;

/** Somebody who was let in. */
interface Caller {
  /** How the keys begin of all sessions that are there for them. Absent: any. */
  readonly sessions?: string | undefined;
}

/** Knows the sessions that runs and questions belong to. */
export interface Owners {
  readonly createId: () => string;
  readonly runs: { sessionOf(runId: string): string | undefined };
  readonly approvals: {
    assertOwn(approvalId: string, isOwn: (sessionKey: string) => boolean): void;
  };
}

/** Whether somebody may know of a session. */
export function sees(
  { sessions = "" }: { readonly sessions?: string | undefined },
  sessionKey: string,
): boolean {
  return sessionKey.startsWith(sessions);
}

/** Throws `forbidden`, whether there is such a session or not. */
export function assertOwn(caller: Caller, sessionKey: string): void {
  if (sees(caller, sessionKey)) return;
  const beginning = JSON.stringify(caller.sessions);
  throw new GatewayError(
    "forbidden",
    `The token is for sessions whose keys begin with ${beginning}.`,
  );
}

/** Throws `forbidden` for a session of others, and `conflict` for the id of a run of theirs. */
export function assertMaySend(
  { runs }: Pick<Owners, "runs">,
  {
    sessionKey,
    idempotencyKey,
  }: { readonly sessionKey?: unknown; readonly idempotencyKey?: unknown },
  caller: Caller,
): void {
  if (typeof sessionKey === "string") assertOwn(caller, sessionKey);
  const keyOf = typeof idempotencyKey === "string" ? runs.sessionOf(idempotencyKey) : undefined;
  // What was left under it would be replaced.
  if (keyOf !== undefined && !sees(caller, keyOf))
    throw new GatewayError("conflict", "This idempotency key was used in another session.");
}

/**
 * The params as they may be carried out: a session that is not named is one of their own. Throws
 * `forbidden` for the keys of others' sessions, and for what would hold in them, `not_found` for
 * others' questions.
 */
export function ownParams(context: Owners, method: MethodName, params: Json, caller: Caller): Json {
  const { sessions } = caller;
  // To hear no more of a session tells nothing of it.
  if (sessions === undefined || method === "chat.unsubscribe") return params;
  for (const [name, value] of Object.entries(params))
    if (/sessionKey$/i.test(name)) assertOwn(caller, value as string);
  assertMaySend(context, params, caller);
  const { approvalId, decision, runId, sessionKey, newSessionKey } = params;
  if (typeof approvalId === "string")
    context.approvals.assertOwn(approvalId, (key) => sees(caller, key));
  if (decision === "allow-always")
    throw new GatewayError(
      "forbidden",
      "That would hold for everyone: allow-session is for this session.",
    );
  if (method === "sessions.create" && sessionKey === undefined)
    return { ...params, sessionKey: newKey() };
  if (method === "sessions.fork" && newSessionKey === undefined)
    return { ...params, newSessionKey: newKey() };
  if (method === "chat.abort" && sessionKey === undefined && typeof runId === "string") {
    const known = context.runs.sessionOf(runId);
    // In none of their own it is found as little as one that never was.
    return { ...params, sessionKey: known !== undefined && sees(caller, known) ? known : sessions };
  }
  return params;

  function newKey(): string {
    return `${sessions}${context.createId()}`;
  }
}
