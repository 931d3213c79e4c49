/**
 * The handlers of the methods. The caller has checked the params. A thrown error becomes the
 * response.
 */
import { agentInfos } from "../agents/agent-infos.ts";
import type { Scope } from "../protocol/frame.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import { readHistory, readMessage } from "../sessions/history.ts";
import type { Host } from "../runs/host.ts";
import { sees } from "../access/own-sessions.ts";
import type { User } from "../access/user.ts";
import type { Decision, MethodName, Params, Result, RunInfo } from "../protocol/protocol.ts";
import type { RunLog } from "../log/run-log.ts";
import type { Runs } from "../runs/runs.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** The client that sent the request. */
export interface Caller {
  readonly scope: Scope;
  /** The prefix of the session keys that the client may use. Absent: all sessions. */
  readonly sessions?: string | undefined;
  readonly user: User;
  /** Recorded as the author of an approval decision. */
  readonly name: string;
  subscribe(sessionKey: string): void;
  unsubscribe(sessionKey: string): void;
  /** Sends the events of a run that the client has missed. */
  replay(log: RunLog, seq: number | undefined): void;
}

export interface MethodContext extends Host {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly version: string;
  readonly startedAt: number;
  readonly connections: () => number;
}

/** The result, and a function that is called when the response has been queued. */
export interface Answered<R> {
  readonly result: R;
  readonly after?: () => void;
}

type Handler<M extends MethodName> = (
  context: MethodContext,
  params: Params<M>,
  caller: Caller,
) => Answered<Result<M>> | Promise<Answered<Result<M>>>;

export const handlers: { readonly [M in MethodName]: Handler<M> } = {
  "health.check": ({ version, startedAt, clock, connections, runs }) => ({
    result: {
      status: "ok",
      version,
      uptimeMs: clock.now() - startedAt,
      connections: connections(),
      runs: runs.count,
    },
  }),
  "agents.list": async (context) => ({ result: { agents: await agentInfos(context) } }),
  "sessions.create": async ({ sessions }, params, { user }) => ({
    result: await sessions.create(params, user),
  }),
  "sessions.list": async ({ sessions }, params, caller) => ({
    result: await sessions.list(params, caller.sessions),
  }),
  "sessions.get": async ({ sessions }, params) => ({ result: await sessions.get(params) }),
  "sessions.patch": async ({ sessions }, params) => ({ result: await sessions.patch(params) }),
  "sessions.reset": async ({ sessions }, params) => ({ result: await sessions.reset(params) }),
  "sessions.delete": async ({ sessions }, params) => ({ result: await sessions.delete(params) }),
  "sessions.fork": async ({ sessions }, params) => ({ result: await sessions.fork(params) }),
  "chat.send": (context, params, caller) => send(context, params, caller, "send"),
  "chat.steer": (context, params, caller) => send(context, params, caller, "steer"),
  "chat.followUp": (context, params, caller) => send(context, params, caller, "followUp"),
  "chat.abort": async ({ runs }, params) => {
    if (params.sessionKey === undefined && params.runId === undefined)
      throw new GatewayError("bad_params", "Nothing to abort. Pass a sessionKey, a runId or both.");
    const runIds = await runs.abort(params);
    return { result: { aborted: runIds.length > 0, runIds } };
  },
  "chat.history": async ({ store, filter, runs }, params) => {
    const { sessionKey } = params;
    for (let tries = 3; ; tries--) {
      const before = runs.waitingIn(sessionKey);
      const history = await readHistory(store, filter, params);
      const waiting = runs.waitingIn(sessionKey);
      const stays = new Set(waiting.map(({ messageId }) => messageId));
      // A message that entered the transcript during the read would be in neither list, so the read
      // is repeated.
      if (tries === 1 || before.every(({ messageId }) => stays.has(messageId)))
        return { result: { ...history, waiting } };
    }
  },
  "chat.message": async ({ store, filter }, params) => ({
    result: await readMessage(store, filter, params),
  }),
  "chat.subscribe": async ({ runs }, { sessionKey, runId, seq }, caller) => {
    const asked = runId === undefined ? undefined : await runs.log(runId, sessionKey);
    const missing: RunInfo[] =
      runId !== undefined && asked === undefined
        ? [{ runId, sessionKey, state: "unknown", seq: -1 }]
        : [];
    const open = runs.ofSession(sessionKey);
    const ended =
      asked !== undefined && !open.some((run) => run.runId === asked.runId) ? [asked.info] : [];
    return {
      result: { sessionKey, runs: [...ended, ...open, ...missing] },
      // Synchronous, so that no event is lost between the replay and the subscription.
      after: () => {
        const current = runs.currentLog(sessionKey);
        if (asked !== undefined && asked !== current) caller.replay(asked, seq);
        if (current !== undefined)
          caller.replay(current, runId === undefined || asked === current ? seq : undefined);
        caller.subscribe(sessionKey);
      },
    };
  },
  "chat.unsubscribe": (_context, { sessionKey }, caller) => ({
    result: { sessionKey },
    // Runs after the response, as subscribing does. Of two concurrent requests the one answered
    // last wins.
    after: () => caller.unsubscribe(sessionKey),
  }),
  "approvals.list": ({ approvals }, { sessionKey }, caller) => ({
    result: {
      approvals: approvals.list(sessionKey).filter((approval) => sees(caller, approval.sessionKey)),
    },
  }),
  "approvals.resolve": (context, params, caller) => resolve(context, params, caller),
  "exec.approve": (context, params, caller) =>
    resolve(context, { ...params, decision: "allow-once" }, caller),
  "exec.deny": (context, params, caller) =>
    resolve(context, { ...params, decision: "deny" }, caller),
};

async function send(
  { runs }: MethodContext,
  params: Params<"chat.send">,
  caller: Caller,
  kind: "send" | "steer" | "followUp",
): Promise<Answered<Result<"chat.send">>> {
  const { result, start } = await runs.accept({ ...params, user: caller.user }, kind);
  return {
    result,
    after: () => {
      caller.subscribe(params.sessionKey);
      start();
    },
  };
}

async function resolve(
  { approvals }: MethodContext,
  { approvalId, ...answer }: Params<"approvals.resolve">,
  { name }: Caller,
): Promise<{ result: { approvalId: string; decision: Decision } }> {
  await approvals.resolve(approvalId, { ...answer, by: name });
  return { result: { approvalId, decision: answer.decision } };
}
