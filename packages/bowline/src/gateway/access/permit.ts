/**
 * Checks whether a caller may call a method with these params. This is the only such check, for
 * sockets and HTTP alike: of the method, its sessions and what belongs to them. Each method's
 * declaration in `protocol/schema.ts` lists what to check.
 */
import type { Reference } from "../protocol/define-method.ts";
import type { Scope } from "../protocol/frame.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { MethodName, Params } from "../protocol/protocol.ts";
import { methods } from "../protocol/schema.ts";
import { assertOwn, sees, type SessionUser } from "./own-sessions.ts";

interface Caller extends SessionUser {
  readonly scope: Scope;
}

/** Finds the sessions of runs and approvals. Returns undefined for unknown ids. */
export interface Owners {
  readonly createId: () => string;
  readonly runs: { sessionOf(runId: string): string | undefined };
  readonly approvals: { sessionOf(approvalId: string): string | undefined };
}

type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Returns the params with which the method may run. If the caller has a key prefix and names no
 * session, a new session gets a key with that prefix.
 *
 * Throws `forbidden` for a token that may only read, for keys of other users' sessions, and for
 * decisions that would affect other sessions. Throws `conflict` for the id of another user's
 * message, and `not_found` for another user's approval. The params must fit the method's schema.
 */
export function permit<M extends MethodName>(
  owners: Owners,
  method: M,
  params: Params<M>,
  caller: Caller,
): Params<M> {
  assertScope(caller.scope, method);
  const { refersTo } = methods[method];
  if (caller.sessions === undefined) return params;
  const given = params as Texts;
  const own: Record<string, string | undefined> = {};
  for (const [name, reference] of Object.entries(refersTo)) {
    const value = given[name];
    if (value !== undefined) assertRight(owners, reference, value, caller);
    else if (reference === "newSession") own[name] = `${caller.sessions}${owners.createId()}`;
  }
  const session = nameOf("session", refersTo);
  const runId = given[nameOf("run", refersTo) ?? ""];
  if (runId !== undefined && session !== undefined && given[session] === undefined)
    own[session] = sessionOfRun(owners, runId, caller);
  return { ...params, ...own };
}

/**
 * Throws `forbidden` if the scope does not allow the method. {@link permit} does so too; this check
 * is for callers that have not read the params yet.
 */
export function assertScope(scope: Scope, method: MethodName): void {
  if (scope === "read" && methods[method].access !== "read")
    throw new GatewayError("forbidden", `The token is for reading only: ${method} is not.`);
}

/**
 * Returns the session of a known run. Another user's run looks the same as an unknown one: both
 * return the caller's key prefix, which is the key of no foreign session.
 */
export function sessionOfRun(
  { runs }: Pick<Owners, "runs">,
  runId: string,
  user: SessionUser,
): string | undefined {
  const known = runs.sessionOf(runId);
  return known !== undefined && sees(user, known) ? known : user.sessions;
}

function assertRight(
  { runs, approvals }: Owners,
  reference: Reference,
  value: string,
  caller: SessionUser,
): void {
  switch (reference) {
    case "session":
    case "newSession":
      assertOwn(caller, value);
      break;
    case "message": {
      // The new message would replace the pending one with this id.
      const sessionKey = runs.sessionOf(value);
      if (sessionKey !== undefined && !sees(caller, sessionKey))
        throw new GatewayError("conflict", "This idempotency key was used in another session.");
      break;
    }
    case "approval": {
      const sessionKey = approvals.sessionOf(value);
      if (sessionKey === undefined || !sees(caller, sessionKey))
        throw new GatewayError("not_found", "There is no such question, or its run has ended.");
      break;
    }
    case "decision":
      if (value === "allow-always")
        throw new GatewayError(
          "forbidden",
          "allow-always would apply to all users. Use allow-session for this session.",
        );
      break;
    case "run": // searched in a session of the caller
    case "entry":
    case "agent":
    case "text":
      break;
  }
}

function nameOf(
  wanted: Reference,
  refersTo: Readonly<Record<string, Reference>>,
): string | undefined {
  return Object.entries(refersTo).find(([, reference]) => reference === wanted)?.[0];
}
