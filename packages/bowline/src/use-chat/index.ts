/**
 * `bowline/use-chat`: a session of a gateway as a chat of `ChatRuns` (`@bowline/core/ui-stream`), so
 * that a web server serves `useChat` while the runs are elsewhere.
 */
export { remoteChat } from "./remote-chat.ts";
export type { RemoteChat } from "./remote-chat.ts";
