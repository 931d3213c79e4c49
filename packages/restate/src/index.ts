/** `@bowline/restate`: runs of agents that survive the death of their process. */
export { createRestateRuns } from "./create-runs.ts";
export type { EndpointHandler, EndpointOptions, LogAbout, RestateRuns } from "./create-runs.ts";
export type { AgentRequest, EventSource, RestateRunsOptions, RunEnding } from "./options.ts";
export { createRestateClient } from "./client.ts";
export type { RestateClient, RestateClientOptions, Submitted } from "./client.ts";
export type { ClientMessage } from "./client-message.ts";
export { createRestateAdmin } from "./admin.ts";
export type { EndedRun, RestateAdmin, RestateAdminOptions } from "./admin.ts";
export type { Deployment, FailingRun, RestateStatus } from "./restate-status.ts";
export type {
  AbortInput,
  AnswerCall,
  AnswerInput,
  RecoverInput,
  RunInput,
  RunningRun,
  RunOutcome,
  SessionRuns,
  WakeInput,
} from "./wire.ts";
