/**
 * JSON Schemas of every method's params and result and every event's data. The server checks params
 * by them; tests check every frame it sends; the tables of docs/gateway.md are made from them. The
 * compiler checks that fields are those of `protocol.ts`.
 */
import type { JsonSchema } from "@bowline/core";
import type {
  Approval,
  EventData,
  EventName,
  MethodName,
  Params,
  Result,
  WaitingMessage,
} from "./protocol.ts";
import {
  anything,
  count,
  flag,
  key,
  list,
  maybe,
  name,
  number,
  object,
  oneOf,
  seq,
  shortText,
  text,
  title,
  type Fields,
} from "./schema-fields.ts";
import {
  agent,
  approvalFields,
  block,
  call,
  decision,
  delta,
  entry,
  errorInfo,
  nothing,
  ofRun,
  oneSession,
  onlyKey,
  resolved,
  run,
  runState,
  send,
  sent,
  session,
  usage,
  userText,
  waitingFields,
} from "./schema-shapes.ts";

export interface MethodSchema {
  readonly summary: string;
  /** Whether a token for reading may call it. */
  readonly readOnly: boolean;
  readonly params: JsonSchema;
  readonly result: JsonSchema;
}

export interface EventSchema {
  readonly summary: string;
  readonly data: JsonSchema;
}

/** Held to the method's own types; its name stands before it in the table. */
const method = <M extends MethodName>(
  summary: string,
  readOnly: boolean,
  {
    params,
    result,
  }: { params: JsonSchema | Fields<Params<M>>; result: JsonSchema | Fields<Result<M>> },
): MethodSchema => ({ summary, readOnly, params: asObject(params), result: asObject(result) });

function asObject<T>(schema: JsonSchema | Fields<T>): JsonSchema {
  return "type" in schema && schema.type === "object" ? schema : object<T>(schema as Fields<T>);
}

export const methods: { readonly [M in MethodName]: MethodSchema } = {
  "health.check": method<"health.check">("Whether the server is well", true, {
    params: nothing,
    result: {
      status: oneOf("ok"),
      version: text,
      uptimeMs: number,
      connections: count,
      runs: count,
    },
  }),
  "agents.list": method<"agents.list">("The agents of AGENTS.md", true, {
    params: nothing,
    result: { agents: list(agent) },
  }),
  "sessions.create": method<"sessions.create">(
    "A new session; without a key it gets a UUID",
    false,
    {
      params: { sessionKey: maybe(key), agentId: maybe(name), title: maybe(title) },
      result: oneSession,
    },
  ),
  "sessions.list": method<"sessions.list">("Sessions, the latest first", true, {
    params: {
      search: maybe(shortText),
      limit: maybe({ type: "integer", minimum: 1, maximum: 500 }),
      cursor: maybe(shortText),
    },
    result: { sessions: list(session), cursor: maybe(text) },
  }),
  "sessions.get": method<"sessions.get">("One session", true, {
    params: onlyKey,
    result: oneSession,
  }),
  "sessions.patch": method<"sessions.patch">(
    "Gives a session a title, another model or another agent",
    false,
    {
      params: { sessionKey: key, title: maybe(title), model: maybe(name), agentId: maybe(name) },
      result: oneSession,
    },
  ),
  "sessions.reset": method<"sessions.reset">(
    "Begins the conversation anew under the same key",
    false,
    {
      params: onlyKey,
      result: oneSession,
    },
  ),
  "sessions.delete": method<"sessions.delete">(
    "Ends what runs there and deletes the session",
    false,
    {
      params: onlyKey,
      result: { deleted: flag },
    },
  ),
  "sessions.fork": method<"sessions.fork">(
    "A new session that begins as this one, up to an entry",
    false,
    {
      params: { sessionKey: key, newSessionKey: maybe(key), at: maybe(name) },
      result: oneSession,
    },
  ),
  "chat.send": method<"chat.send">("Starts a run, or queues it behind the session's own", false, {
    params: send,
    result: sent,
  }),
  "chat.steer": method<"chat.steer">("A message into the run, before its next model call", false, {
    params: send,
    result: sent,
  }),
  "chat.followUp": method<"chat.followUp">("A message for when the run would stop", false, {
    params: send,
    result: sent,
  }),
  "chat.abort": method<"chat.abort">(
    "Ends a run, or all of a session; no error when there is none",
    false,
    {
      params: { sessionKey: maybe(key), runId: maybe(name) },
      result: { aborted: flag, runIds: list(name) },
    },
  ),
  "chat.history": method<"chat.history">(
    "The last messages (default 100), oldest first; `before` pages back",
    true,
    {
      params: {
        sessionKey: key,
        limit: maybe({ type: "integer", minimum: 1, maximum: 500 }),
        before: maybe(name),
      },
      result: {
        sessionKey: key,
        messages: list(entry),
        hasMore: flag,
        waiting: list(object<WaitingMessage>(waitingFields)),
      },
    },
  ),
  "chat.subscribe": method<"chat.subscribe">(
    "The session's events from now on, and what was missed of a run",
    true,
    {
      params: { sessionKey: key, runId: maybe(name), seq: maybe(seq) },
      result: { sessionKey: key, runs: list(run) },
    },
  ),
  "chat.unsubscribe": method<"chat.unsubscribe">("No more events of the session", true, {
    params: onlyKey,
    result: { sessionKey: key },
  }),
  "approvals.list": method<"approvals.list">("What waits for an answer", true, {
    params: { sessionKey: maybe(key) },
    result: { approvals: list(object<Approval>(approvalFields)) },
  }),
  "approvals.resolve": method<"approvals.resolve">("Answers one, once", false, {
    params: { approvalId: text, decision, pattern: maybe(shortText), reason: maybe(shortText) },
    result: resolved,
  }),
  "exec.approve": method<"exec.approve">("`approvals.resolve` with `allow-once`", false, {
    params: { approvalId: text },
    result: resolved,
  }),
  "exec.deny": method<"exec.deny">("`approvals.resolve` with `deny`", false, {
    params: { approvalId: text, reason: maybe(shortText) },
    result: resolved,
  }),
};

const event = <E extends EventName>(summary: string, data: Fields<EventData<E>>): EventSchema => ({
  summary,
  data: object<EventData<E>>(data),
});

export const events: { readonly [E in EventName]: EventSchema } = {
  "chat.user": event<"chat.user">("A user's message went into the run", { ...ofRun, ...userText }),
  "chat.queued": event<"chat.queued">("A message waits, for its turn or for the run", {
    ...ofRun,
    ...waitingFields,
  }),
  "chat.delta": event<"chat.delta">("More of the answer", delta),
  "chat.thinking": event<"chat.thinking">("More of what the model thinks", delta),
  "chat.tool_call": event<"chat.tool_call">("The model called a tool", {
    ...call,
    input: anything,
  }),
  "tool.progress": event<"tool.progress">("What a running tool has printed so far", {
    ...call,
    text,
  }),
  "chat.tool_result": event<"chat.tool_result">("A tool call ended, or was refused", {
    ...call,
    output: text,
    isError: flag,
    durationMs: number,
  }),
  "chat.turn": event<"chat.turn">("A model call ended", {
    ...ofRun,
    turn: count,
    provider: text,
    model: text,
    usage,
  }),
  "chat.notice": event<"chat.notice">("Another model answers, or a request is tried again", {
    ...ofRun,
    code: text,
    message: text,
  }),
  "chat.snapshot": event<"chat.snapshot">(
    "All of the run so far, in place of what the client has",
    {
      ...ofRun,
      seq,
      state: runState,
      blocks: list(block),
    },
  ),
  "chat.final": event<"chat.final">("The run ended", {
    ...ofRun,
    usage,
    stopReason: oneOf("stop", "length", "budget"),
  }),
  "chat.error": event<"chat.error">("The run failed", {
    ...ofRun,
    message: text,
    errorKind: oneOf("refusal", "timeout", "rate_limit", "context_length", "auth", "unknown"),
    error: errorInfo,
  }),
  "chat.aborted": event<"chat.aborted">("The run was stopped", { ...ofRun, usage }),
  "exec.approval_request": event<"exec.approval_request">("A person is asked about a call", {
    ...approvalFields,
    ...ofRun,
  }),
  "exec.approval_resolved": event<"exec.approval_resolved">(
    "It was answered, or nobody did in time",
    {
      ...ofRun,
      approvalId: text,
      decision: oneOf("allow", "deny", "expired"),
      by: maybe(text),
      reason: maybe(text),
    },
  ),
  "sessions.changed": event<"sessions.changed">("The list of sessions is another", {
    sessionKey: key,
    change: oneOf("created", "updated", "deleted", "reset", "run"),
    model: maybe(text),
    agentId: maybe(name),
  }),
  tick: event<"tick">("The server is there", { time: number }),
  shutdown: event<"shutdown">("The server goes away", { reason: text }),
};
