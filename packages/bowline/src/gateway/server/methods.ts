/**
 * The handlers of the methods. The caller has checked the params. A thrown error becomes the
 * response.
 */
import type { Clock } from "@bowline/core";
import { agentInfos } from "../agents/agent-infos.ts";
import type { Scope } from "../protocol/frame.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import { readHistory, readMessage } from "../sessions/history.ts";
import type { Engine } from "../engine/engine.ts";
import type { Frame } from "../log/outbox.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { SecretFilter } from "../../secrets.ts";
import { sees } from "../access/own-sessions.ts";
import type { User } from "../access/user.ts";
import type { Decision, EventName, MethodName, Params, Result } from "../protocol/protocol.ts";

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
  /** Sends an event to this client only. */
  event(name: EventName, frame: Frame): void;
}

type OfEngine = "runs" | "approvals" | "sessions" | "store" | "agents" | "backendFor" | "modelFor";

/** What the methods need. */
export interface DoorContext extends Pick<Engine, OfEngine> {
  readonly filter: SecretFilter;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly createId: () => string;
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
  context: DoorContext,
  params: Params<M>,
  caller: Caller,
) => Answered<Result<M>> | Promise<Answered<Result<M>>>;

export const handlers: { readonly [M in MethodName]: Handler<M> } = {
  "health.check": async ({ version, startedAt, clock, connections, runs }) => ({
    result: {
      status: "ok",
      version,
      uptimeMs: clock.now() - startedAt,
      connections: connections(),
      runs: await runs.count(),
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
      const before = await runs.waitingIn(sessionKey);
      const history = await readHistory(store, filter, params);
      const waiting = await runs.waitingIn(sessionKey);
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
  "chat.subscribe": async (context, params, caller) => {
    const { sessionKey } = params;
    const { runs, missed } = await context.runs.follow(params);
    return {
      result: { sessionKey, runs },
      // Synchronous, so that no event is lost between the replay and the subscription.
      after: () => {
        for (const { frame, event } of missed()) caller.event(event, frame);
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
  "approvals.list": async (context, { sessionKey }, caller) => {
    const approvals = await context.approvals.list(sessionKey, caller.sessions);
    return {
      result: { approvals: approvals.filter((approval) => sees(caller, approval.sessionKey)) },
    };
  },
  "approvals.resolve": (context, params, caller) => resolve(context, params, caller),
  "exec.approve": (context, params, caller) =>
    resolve(context, { ...params, decision: "allow-once" }, caller),
  "exec.deny": (context, params, caller) =>
    resolve(context, { ...params, decision: "deny" }, caller),
};

async function send(
  { runs }: DoorContext,
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
  { approvals }: DoorContext,
  { approvalId, ...answer }: Params<"approvals.resolve">,
  { name }: Caller,
): Promise<{ result: { approvalId: string; decision: Decision } }> {
  await approvals.resolve(approvalId, { ...answer, by: name });
  return { result: { approvalId, decision: answer.decision } };
}
