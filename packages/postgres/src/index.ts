/** `@bowline/postgres`: sessions in PostgreSQL, for several processes and for durable engines. */
export { createPostgresStore } from "./store.ts";
export type { PostgresStore } from "./store.ts";
export { isSessionFenced } from "./errors.ts";
export type { SessionFencedError } from "./errors.ts";
export type { DeleteOptions, DeleteResult } from "./delete-sessions.ts";
export type {
  BegunRun,
  DrainName,
  DurableItem,
  DurableSessions,
  InboxMessage,
  MessagePlace,
  QueuedInput,
  RunBeginning,
  RunClosing,
} from "./durable/contract.ts";
export type { AllowRule, RuleFilter, StoredRule } from "./durable/rules.ts";
export type { ServerInfo } from "./server-info.ts";
export type {
  AnsweredApproval,
  AnswerPlace,
  ApprovalAnswer,
  ApprovalFilter,
  CancelledInput,
  FoundApproval,
  FoundRun,
  ListedRun,
  OpenApproval,
  OpenRun,
  RunFilter,
  StartInput,
  StoredAnswer,
  WaitingInput,
  WaitingMessage,
} from "./durable/run-types.ts";
export type { OpenWriterOptions } from "./open-writer.ts";
export type {
  PostgresClient,
  PostgresConfig,
  PostgresPool,
  PostgresStoreOptions,
  PostgresTls,
} from "./options.ts";
