/** `@bowline/restate`: runs of agents that survive the death of their process. */
export { createRestateRuns } from "./create-runs.ts";
export type { RestateRuns, SessionHandlers } from "./create-runs.ts";
export type { AgentRequest, EventSource, RestateRunsOptions } from "./options.ts";
export { createRestateClient } from "./client.ts";
export type { ClientMessage, RestateClient, RestateClientOptions, Submitted } from "./client.ts";
export { createRestateWatchdog } from "./watchdog.ts";
export type { EndedRun, RestateWatchdog, RestateWatchdogOptions } from "./watchdog.ts";
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
