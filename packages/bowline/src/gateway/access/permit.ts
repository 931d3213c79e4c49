/**
 * Whether somebody may call a method with these params: the one place where a caller's right to a
 * method, to its sessions and to what belongs to them is checked, for sockets and HTTP alike. Each
 * method's declaration in `protocol/schema.ts` says what there is to check.
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

/** Knows the sessions that runs and questions belong to; undefined for what is not known. */
export interface Owners {
  readonly createId: () => string;
  readonly runs: { sessionOf(runId: string): string | undefined };
  readonly approvals: { sessionOf(approvalId: string): string | undefined };
}

type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Gives the params as they may be carried out: for who has sessions of their own a session that is
 * not named is one of these. Throws `forbidden` for what a token for reading may not do, for the keys
 * of others' sessions, and for what would hold in them; `conflict` for the id of a message of theirs,
 * and `not_found` for their questions. The params fit the method's schema.
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

/** Throws `forbidden`. {@link permit} does it, too: this is for before the params are read. */
export function assertScope(scope: Scope, method: MethodName): void {
  if (scope === "read" && methods[method].access !== "read")
    throw new GatewayError("forbidden", `The token is for reading only: ${method} is not.`);
}

/**
 * The session of a run that is known. Of another user's run it is as little known as of one that
 * never was: then it is what no session of others begins with.
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
      // What was left under it would be replaced.
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
          "That would hold for everyone: allow-session is for this session.",
        );
      break;
    case "run": // looked for in a session of the caller's
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
