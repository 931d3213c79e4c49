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
  Readiness,
  ReadyPart,
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
  findRunModel,
  readStoredSession,
} from "./gateway/remote/stored-run.ts";
export type {
  StoredEnd,
  StoredRun,
  StoredRunOptions,
  StoredSession,
} from "./gateway/remote/stored-run.ts";
export { cancelledRun, queuedRun } from "./gateway/remote/unbegun-run.ts";
export type { UnbegunRun } from "./gateway/remote/unbegun-run.ts";
export { createAgentOfRun } from "./gateway/remote/run-agents.ts";
export type { AgentOfRun } from "./gateway/remote/run-agents.ts";
export type { AgentHost, RunRules } from "./gateway/runs/agent-host.ts";
export { resolveAgents } from "./gateway/agents/resolve-agents.ts";
export type { ResolvedAgents } from "./gateway/agents/resolve-agents.ts";
export { checkAgents, isListed } from "./gateway/agents/agent-options.ts";
export type { AgentOptions } from "./gateway/agents/agent-options.ts";
export { DEFAULT_AGENT, findAgent } from "./gateway/agents/agent-entry.ts";
export type { KnownAgent } from "./gateway/agents/agent-entry.ts";
export { referenceOf } from "./gateway/agents/choices.ts";
export type { Choice } from "./gateway/agents/choices.ts";
export { agentOf, noAgent } from "./gateway/agents/session-agent.ts";
export type { Agents } from "./gateway/agents/session-agent.ts";
export { assertTaken, checkAttachments, contentOf } from "./gateway/runs/attachments.ts";
export { waitingMessage } from "./gateway/runs/waiting-message.ts";
export { SessionChanges } from "./gateway/runs/session-changes.ts";
export { addedRule } from "./gateway/approvals/added-rule.ts";
export { shownApproval } from "./gateway/approvals/shown-approval.ts";
export type { ApprovalRequest, ShownWith } from "./gateway/approvals/shown-approval.ts";
export { checkPatch, choiceEntries } from "./gateway/sessions/choice-entries.ts";
export type { ModelChange } from "./gateway/sessions/choice-entries.ts";
export { listOwn } from "./gateway/sessions/list-own.ts";
export { toSessionInfo } from "./gateway/sessions/session-info.ts";
export { titleFrom } from "./gateway/sessions/session-title.ts";
export { ownedBy, ownerIn } from "./gateway/access/user.ts";
export { isMissing } from "./is-missing.ts";
export { GatewayError } from "./gateway/protocol/gateway-error.ts";
export type { Frame } from "./gateway/log/outbox.ts";
export type { RunEventName } from "./gateway/log/run-log.ts";
export { createSecretFilter } from "./secrets.ts";
export type { SecretFilter } from "./secrets.ts";
