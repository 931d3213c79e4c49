/** JSON Schemas shared by several methods and events. */
import type { JsonSchema } from "@bowline/core";
import type {
  AddedText,
  AgentInfo,
  Approval,
  Attachment,
  Block,
  EventData,
  HistoryEntry,
  Holder,
  FileInfo,
  ImageInfo,
  Params,
  Result,
  RunEventData,
  RunInfo,
  SendParams,
  SendResult,
  SessionInfo,
  TokenCounts,
  WaitingMessage,
} from "./protocol.ts";
import { fileTypes, imageTypes } from "./file-types.ts";
import {
  anything,
  count,
  flag,
  key,
  list,
  maybe,
  message,
  name,
  number,
  object,
  oneOf,
  seq,
  text,
  type Fields,
} from "./schema-fields.ts";

export const usage: JsonSchema = object<TokenCounts>({
  inputTokens: maybe(count),
  outputTokens: maybe(count),
  cacheReadTokens: maybe(count),
  cacheWriteTokens: maybe(count),
  cost: maybe(number),
});

export const agent: JsonSchema = object<AgentInfo>({
  id: name,
  description: text,
  model: maybe(text),
  answeredBy: text,
  isPractice: flag,
  isDefault: flag,
  isModelFixed: maybe({ const: true }),
});

export const runState: JsonSchema = oneOf(
  "queued",
  "running",
  "final",
  "error",
  "aborted",
  "interrupted",
  "unknown",
);
export const run: JsonSchema = object<RunInfo>({
  runId: name,
  sessionKey: key,
  state: runState,
  seq,
});

export const session: JsonSchema = object<SessionInfo>({
  sessionKey: key,
  title: maybe(text),
  agentId: maybe(name),
  model: maybe(text),
  createdAt: number,
  updatedAt: number,
  messageCount: count,
  forkedFrom: maybe(key),
  runs: list(run),
  heldBy: maybe(object<Holder>({ pid: maybe(count), host: maybe(text), since: number })),
});

export const approvalFields: Fields<Approval> = {
  approvalId: text,
  runId: name,
  sessionKey: key,
  toolCallId: text,
  toolName: text,
  summary: text,
  arguments: anything,
  command: maybe(text),
  workingDir: maybe(text),
  reason: maybe(text),
  pattern: maybe(text),
  expiresAt: maybe(number),
};
export const decision: JsonSchema = oneOf("allow-once", "allow-session", "allow-always", "deny");
export const resolved: JsonSchema = object<Result<"exec.approve">>({ approvalId: text, decision });

export const entry: JsonSchema = object<HistoryEntry>({
  id: text,
  runId: maybe(name),
  message: { type: "object", properties: { role: text }, required: ["role"] },
  truncated: maybe({
    type: "object",
    properties: { length: count },
    required: ["length"],
    additionalProperties: false,
  }),
});

const attachment = object<Attachment>({
  mimeType: oneOf(...imageTypes, ...fileTypes),
  data: { type: "string", minLength: 4, pattern: "^[A-Za-z0-9+/]+={0,2}$" },
  name: maybe({ type: "string", minLength: 1, maxLength: 200 }),
});
export const send: JsonSchema = object<SendParams>({
  sessionKey: key,
  message,
  agentId: maybe(name),
  idempotencyKey: maybe(name),
  attachments: maybe({ ...list(attachment), minItems: 1, maxItems: 100 }),
});
export const sendReferences = {
  sessionKey: "session",
  message: "text",
  agentId: "agent",
  idempotencyKey: "message",
} as const;
export const sent: JsonSchema = object<SendResult>({
  runId: name,
  sessionKey: key,
  status: oneOf("started", "queued", "in_flight", "finished", "steered", "waiting"),
});
export const onlyKey: JsonSchema = object<Params<"sessions.get">>({ sessionKey: key });
export const nothing: JsonSchema = object<Params<"health.check">>({});
export const oneSession: JsonSchema = object<Result<"sessions.get">>({ session });

export const ofRun: Fields<RunEventData> = { runId: name, sessionKey: key, seq: count };
export const delta: Fields<EventData<"chat.delta">> = {
  ...ofRun,
  turn: count,
  text,
  firstSeq: maybe(count),
};
export const call: Fields<Omit<EventData<"tool.progress">, "text">> = {
  ...ofRun,
  toolCallId: text,
  name: text,
};

const images = maybe(list(object<ImageInfo>({ mimeType: text, bytes: count })));
const files = maybe(
  list(object<FileInfo>({ mimeType: text, name: maybe(text), bytes: maybe(count) })),
);
const added = maybe(list(object<AddedText>({ label: text, file: maybe(text) })));
export const userText: Fields<Omit<EventData<"chat.user">, keyof RunEventData>> = {
  text,
  messageId: maybe(name),
  images,
  files,
  added,
};
export const waitingFields: Fields<WaitingMessage> = {
  messageId: name,
  kind: oneOf("send", "steer", "followUp", "held"),
  text,
  images,
  files,
  added,
};

export const block: JsonSchema = {
  oneOf: [
    object<Extract<Block, { readonly type: "user" }>>({ type: { const: "user" }, ...userText }),
    object({ type: { const: "text" }, turn: count, text }),
    object({ type: { const: "thinking" }, turn: count, text }),
    object<Extract<Block, { readonly type: "tool_call" }>>({
      type: { const: "tool_call" },
      toolCallId: text,
      name: text,
      arguments: anything,
      state: oneOf("running", "done", "failed"),
      output: text,
      durationMs: maybe(number),
    }),
  ],
};

export const errorInfo: JsonSchema = {
  type: "object",
  properties: {
    code: text,
    message: text,
    retryable: flag,
    status: number,
    retryAfterMs: number,
    requestId: text,
  },
  required: ["code", "message", "retryable"],
  additionalProperties: false,
};
