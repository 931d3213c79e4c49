/** Sessions: stored transcripts. The store that writes files is in `./session/node`. */
export { attachSession, resumeSession } from "./agent-session.ts";
export type {
  AgentSession,
  AttachOptions,
  CompactionSizes,
  InterruptedSessionRun,
} from "./agent-session.ts";
export { isKnownEntry } from "./entry.ts";
export type {
  AnyEntry,
  Entry,
  EntryBase,
  EntryBody,
  QueueKind,
  RunEnd,
  SessionHeader,
  SessionMessage,
  SessionModel,
} from "./entry.ts";
export type { CompactionEntry, MessageEntry } from "./messages.ts";
export { entriesOfEvent } from "./event-entries.ts";
export type { KeptTranscript } from "./event-entries.ts";
export { createMemoryStore } from "./memory-store.ts";
export { createSession, openSession } from "./open-session.ts";
export type { OpenOptions } from "./open-session.ts";
export type { Session } from "./session.ts";
export type { ContextOptions, ForkOptions, NewSession, SessionOptions } from "./session-options.ts";
export type {
  QueuedMessage,
  RecordedAnswer,
  RecordedCall,
  RunState,
  SessionState,
} from "./session-state.ts";
export { inJson, unansweredResults, unknownOutcome, unwritable } from "./recorded-calls.ts";
export {
  checkSequence,
  checkSessionId,
  sessionExists,
  sessionLocked,
  sessionNotFound,
  toJson,
} from "./store.ts";
export type {
  FollowOptions,
  ListOptions,
  ReadOptions,
  SessionDamage,
  SessionHolder,
  SessionPage,
  SessionSummary,
  SessionWriter,
  Store,
} from "./store.ts";
export { isStoredFile, putBackFiles, storedFilesIn, takeOutFiles } from "./stored-files.ts";
export type { StoredFile } from "./stored-files.ts";
export { addToSummary, pageOf, summaryOf } from "./summary.ts";
export { sessionToHtml } from "./export/html.ts";
export { sessionToJson } from "./export/json.ts";
export { sessionToMarkdown } from "./export/markdown.ts";
