/** JSON Schemas of the data of all events. The compiler checks them against `protocol.ts`. */
import type { JsonSchema } from "@bowline/core";
import type { EventData, EventName } from "./protocol.ts";
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
  text,
  type Fields,
} from "./schema-fields.ts";
import {
  approvalFields,
  block,
  call,
  delta,
  errorInfo,
  ofRun,
  runState,
  usage,
  userText,
  waitingFields,
} from "./schema-shapes.ts";

export interface EventSchema {
  readonly summary: string;
  readonly data: JsonSchema;
}

const event = <E extends EventName>(summary: string, data: Fields<EventData<E>>): EventSchema => ({
  summary,
  data: object<EventData<E>>(data),
});

export const events: { readonly [E in EventName]: EventSchema } = {
  "chat.user": event<"chat.user">("A user's message went into the run", { ...ofRun, ...userText }),
  "chat.queued": event<"chat.queued">("A message is queued, for its turn or for the run", {
    ...ofRun,
    ...waitingFields,
  }),
  "chat.delta": event<"chat.delta">("More of the answer", delta),
  "chat.thinking": event<"chat.thinking">("More of the model's thinking", delta),
  "chat.tool_call": event<"chat.tool_call">("The model called a tool", {
    ...call,
    arguments: anything,
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
  "chat.notice": event<"chat.notice">(
    "Another model answers, a request is retried, a vendor's tool is used, or sources are cited",
    {
      ...ofRun,
      code: text,
      message: text,
    },
  ),
  "chat.snapshot": event<"chat.snapshot">("All of the run so far; replaces what the client has", {
    ...ofRun,
    seq,
    state: runState,
    blocks: list(block),
  }),
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
  "exec.approval_resolved": event<"exec.approval_resolved">("An approval was answered or expired", {
    ...ofRun,
    approvalId: text,
    decision: oneOf("allow", "deny", "expired"),
    by: maybe(text),
    reason: maybe(text),
  }),
  "sessions.changed": event<"sessions.changed">("The list of sessions changed", {
    sessionKey: key,
    change: oneOf("created", "updated", "deleted", "reset", "run"),
    model: maybe(text),
    agentId: maybe(name),
  }),
  tick: event<"tick">("The server is alive", { time: number }),
  shutdown: event<"shutdown">("The server is shutting down", { reason: text }),
};
