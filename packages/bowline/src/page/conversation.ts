/**
 * `bowline/conversation`: what a page shows of a session, folded from the gateway's history and
 * events. Plain functions over immutable objects, for any framework. The chat page uses the same.
 */
export {
  currentRun,
  newConversation,
  runsOf,
  withEarlier,
  withEvent,
  withHistory,
  withLost,
  withMessage,
} from "./state/conversation.ts";
export type { Conversation, HistoryPage } from "./state/conversation.ts";
export { isOver } from "./state/run-view.ts";
export type {
  AnswerView,
  RunView,
  ShownBlock,
  ToolBlock,
  TurnView,
  UserBlock,
} from "./state/run-view.ts";
export type { SentImage } from "./state/sent-image.ts";
