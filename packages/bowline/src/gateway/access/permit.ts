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

type Found = string | undefined;

/**
 * Finds the sessions of runs, messages and approvals. Returns undefined for unknown ids, or a
 * promise if it has to look elsewhere.
 */
export interface Owners {
  readonly createId: () => string;
  readonly runs: {
    sessionOf(runId: string): Found | Promise<Found>;
    sessionOfMessage(id: string): Found;
  };
  readonly approvals: { sessionOf(approvalId: string): Found | Promise<Found> };
}

type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Returns the params with which the method may run. If the caller has a key prefix and names no
 * session, a new session gets a key with that prefix.
 *
 * Throws `forbidden` for a token that may only read, for keys of other users' sessions, and for
 * decisions that would affect other sessions. Throws `conflict` for the id of another user's
 * message, and `not_found` for another user's approval. Rejects instead if a session has to be
 * looked up elsewhere. The params must fit the method's schema.
 */
export function permit<M extends MethodName>(
  owners: Owners,
  method: M,
  params: Params<M>,
  caller: Caller,
): Params<M> | Promise<Params<M>> {
  assertScope(caller.scope, method);
  const { sessions } = caller;
  if (sessions === undefined) return params;
  const { refersTo } = methods[method];
  const given = params as Texts;
  const own: Record<string, Found> = {};
  const lookups: Promise<void>[] = [];
  // A promise only where one is needed: a client's requests begin in the order in which they came.
  const whenFound = (found: Found | Promise<Found>, use: (found: Found) => void): void => {
    if (typeof found === "object") lookups.push(found.then(use));
    else use(found);
  };
  for (const [name, reference] of Object.entries(refersTo)) {
    const value = given[name];
    if (reference === "newSession" && value === undefined)
      own[name] = `${sessions}${owners.createId()}`;
    else if (reference === "approval" && value !== undefined)
      whenFound(owners.approvals.sessionOf(value), (found) => assertQuestion(found, caller));
    else if (value !== undefined) assertRight(owners, reference, value, caller);
  }
  const session = nameOf("session", refersTo);
  const runId = given[nameOf("run", refersTo) ?? ""];
  if (runId !== undefined && session !== undefined && given[session] === undefined)
    whenFound(sessionOfRun(owners, runId, caller), (found) => (own[session] = found));
  const permitted = { ...params };
  if (lookups.length === 0) return Object.assign(permitted, own);
  return Promise.all(lookups).then(() => Object.assign(permitted, own));
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
): Found | Promise<Found> {
  const own = (known: Found): Found =>
    known !== undefined && sees(user, known) ? known : user.sessions;
  const known = runs.sessionOf(runId);
  return typeof known === "object" ? known.then(own) : own(known);
}

function assertQuestion(sessionKey: Found, caller: SessionUser): void {
  if (sessionKey === undefined || !sees(caller, sessionKey))
    throw new GatewayError("not_found", "There is no such question, or its run has ended.");
}

function assertRight(
  { runs }: Owners,
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
      const sessionKey = runs.sessionOfMessage(value);
      if (sessionKey !== undefined && !sees(caller, sessionKey))
        throw new GatewayError("conflict", "This idempotency key was used in another session.");
      break;
    }
    case "decision":
      if (value === "allow-always")
        throw new GatewayError(
          "forbidden",
          "allow-always would apply to all users. Use allow-session for this session.",
        );
      break;
    case "approval": // checked by `permit`
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
