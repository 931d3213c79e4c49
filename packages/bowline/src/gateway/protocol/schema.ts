/**
 * JSON Schemas of the params and results of all methods, and who may call each. Event schemas are
 * in `event-schemas.ts`. The server validates params with them, tests check every frame, and the
 * tables of docs/gateway.md are made from them. The compiler checks the fields against
 * `protocol.ts`.
 */
import type { Approval, MethodName, WaitingMessage } from "./protocol.ts";
import { defineMethod, type MethodSchema } from "./define-method.ts";
import {
  count,
  flag,
  list,
  maybe,
  name,
  key,
  number,
  object,
  oneOf,
  seq,
  shortText,
  text,
  title,
} from "./schema-fields.ts";
import {
  agent,
  approvalFields,
  decision,
  entry,
  nothing,
  oneSession,
  onlyKey,
  resolved,
  run,
  send,
  sendReferences,
  sent,
  session,
  waitingFields,
} from "./schema-shapes.ts";

export { events, type EventSchema } from "./event-schemas.ts";

export const methods: { readonly [M in MethodName]: MethodSchema } = {
  "health.check": defineMethod<"health.check">("The health of the server", {
    access: "read",
    refersTo: {},
    params: nothing,
    result: {
      status: oneOf("ok"),
      version: text,
      uptimeMs: number,
      connections: count,
      runs: count,
    },
  }),
  "agents.list": defineMethod<"agents.list">("The agents that can be asked", {
    access: "read",
    refersTo: {},
    params: nothing,
    result: { agents: list(agent) },
  }),
  "sessions.create": defineMethod<"sessions.create">(
    "A new session; without a key it gets a UUID",
    {
      access: "write",
      refersTo: { sessionKey: "newSession", agentId: "agent", title: "text" },
      params: { sessionKey: maybe(key), agentId: maybe(name), title: maybe(title) },
      result: oneSession,
    },
  ),
  "sessions.list": defineMethod<"sessions.list">("Sessions, the latest first", {
    access: "read",
    refersTo: { search: "text", cursor: "text" },
    params: {
      search: maybe(shortText),
      limit: maybe({ type: "integer", minimum: 1, maximum: 500 }),
      cursor: maybe(shortText),
    },
    result: { sessions: list(session), cursor: maybe(text) },
  }),
  "sessions.get": defineMethod<"sessions.get">("One session", {
    access: "read",
    refersTo: { sessionKey: "session" },
    params: onlyKey,
    result: oneSession,
  }),
  "sessions.patch": defineMethod<"sessions.patch">(
    "Gives a session a title, another model or another agent",
    {
      access: "write",
      refersTo: { sessionKey: "session", title: "text", model: "text", agentId: "agent" },
      params: { sessionKey: key, title: maybe(title), model: maybe(name), agentId: maybe(name) },
      result: oneSession,
    },
  ),
  "sessions.reset": defineMethod<"sessions.reset">("Restarts the conversation under the same key", {
    access: "write",
    refersTo: { sessionKey: "session" },
    params: onlyKey,
    result: oneSession,
  }),
  "sessions.delete": defineMethod<"sessions.delete">("Aborts the session's runs and deletes it", {
    access: "write",
    refersTo: { sessionKey: "session" },
    params: onlyKey,
    result: { deleted: flag },
  }),
  "sessions.fork": defineMethod<"sessions.fork">("Copies a session up to an entry into a new one", {
    access: "write",
    refersTo: { sessionKey: "session", newSessionKey: "newSession", at: "entry" },
    params: { sessionKey: key, newSessionKey: maybe(key), at: maybe(name) },
    result: oneSession,
  }),
  "chat.send": defineMethod<"chat.send">(
    "Starts a run, or queues it after the session's current run",
    {
      access: "write",
      refersTo: sendReferences,
      params: send,
      result: sent,
    },
  ),
  "chat.steer": defineMethod<"chat.steer">(
    "Adds a message to the run, before its next model call",
    {
      access: "write",
      refersTo: sendReferences,
      params: send,
      result: sent,
    },
  ),
  "chat.followUp": defineMethod<"chat.followUp">("Adds a message for when the run would stop", {
    access: "write",
    refersTo: sendReferences,
    params: send,
    result: sent,
  }),
  "chat.abort": defineMethod<"chat.abort">(
    "Aborts a run, or all of a session; succeeds if nothing ran",
    {
      access: "write",
      refersTo: { sessionKey: "session", runId: "run" },
      params: { sessionKey: maybe(key), runId: maybe(name) },
      result: { aborted: flag, runIds: list(name) },
    },
  ),
  "chat.history": defineMethod<"chat.history">(
    "The last messages (default 100), oldest first; `before` pages back",
    {
      access: "read",
      refersTo: { sessionKey: "session", before: "entry" },
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
  "chat.message": defineMethod<"chat.message">(
    "A whole message of the history, as JSON, in pieces of 400,000 characters at most",
    {
      access: "read",
      refersTo: { sessionKey: "session", id: "entry" },
      params: { sessionKey: key, id: name, offset: maybe(count) },
      result: { sessionKey: key, id: name, offset: count, json: text, length: count },
    },
  ),
  "chat.subscribe": defineMethod<"chat.subscribe">(
    "Subscribes to the session's events; sends a run's missed events",
    {
      access: "read",
      refersTo: { sessionKey: "session", runId: "run" },
      params: { sessionKey: key, runId: maybe(name), seq: maybe(seq) },
      result: { sessionKey: key, runs: list(run) },
    },
  ),
  "chat.unsubscribe": defineMethod<"chat.unsubscribe">("Ends the subscription to a session", {
    access: "read",
    refersTo: { sessionKey: "session" },
    params: onlyKey,
    result: { sessionKey: key },
  }),
  "approvals.list": defineMethod<"approvals.list">("Approvals that wait for an answer", {
    access: "read",
    refersTo: { sessionKey: "session" },
    params: { sessionKey: maybe(key) },
    result: { approvals: list(object<Approval>(approvalFields)) },
  }),
  "approvals.resolve": defineMethod<"approvals.resolve">("Answers an approval, once", {
    access: "approve",
    refersTo: { approvalId: "approval", decision: "decision", pattern: "text", reason: "text" },
    params: { approvalId: text, decision, pattern: maybe(shortText), reason: maybe(shortText) },
    result: resolved,
  }),
  "exec.approve": defineMethod<"exec.approve">("`approvals.resolve` with `allow-once`", {
    access: "approve",
    refersTo: { approvalId: "approval" },
    params: { approvalId: text },
    result: resolved,
  }),
  "exec.deny": defineMethod<"exec.deny">("`approvals.resolve` with `deny`", {
    access: "approve",
    refersTo: { approvalId: "approval", reason: "text" },
    params: { approvalId: text, reason: maybe(shortText) },
    result: resolved,
  }),
};
