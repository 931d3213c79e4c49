/**
 * `bowline/engine`: the gateway's entry points over runs that something other than this process
 * executes, such as the workers of a cluster. Applications use `bowline/gateway`.
 */
export { mountEngine } from "./gateway/server/create-gateway.ts";
export type { MountedGateway, MountEngineOptions } from "./gateway/server/create-gateway.ts";
export { startEngine } from "./gateway/server/server.ts";
export type { Gateway, StartEngineOptions } from "./gateway/server/server.ts";
export type {
  Accepted,
  ApprovalAnswer,
  Engine,
  EngineApprovals,
  EngineRuns,
  EngineSessions,
  Followed,
  FollowedRun,
  MaybePromise,
  MessageKind,
  OwnedMessage,
  RunFrame,
  RunPosition,
} from "./gateway/engine/engine.ts";
export type { Clients, CreateEngine, EnginePorts } from "./gateway/engine/engine-ports.ts";
export { createRunFeed, SEQ_PER_ATTEMPT } from "./gateway/remote/run-feed.ts";
export type { RunFeed, RunFeedOptions } from "./gateway/remote/run-feed.ts";
export {
  findLastSeq,
  findOpenRun,
  findRunEnd,
  readStoredSession,
} from "./gateway/remote/stored-run.ts";
export type {
  StoredEnd,
  StoredRun,
  StoredRunOptions,
  StoredSession,
} from "./gateway/remote/stored-run.ts";
export { GatewayError } from "./gateway/protocol/gateway-error.ts";
export type { Frame } from "./gateway/log/outbox.ts";
export type { RunEventName } from "./gateway/log/run-log.ts";
export { createSecretFilter } from "./secrets.ts";
export type { SecretFilter } from "./secrets.ts";
