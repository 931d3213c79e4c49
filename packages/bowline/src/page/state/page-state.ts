/** All that the page knows, and everything that can happen to it. */
import type { ClientState, RunEvent, Welcome } from "../../gateway/client/client.ts";
import type { HistoryMessage } from "../../gateway/protocol/history-message.ts";
import type {
  AgentInfo,
  Approval,
  SendResult,
  SessionInfo,
} from "../../gateway/protocol/protocol.ts";
import type { Conversation, HistoryPage } from "./conversation.ts";
import type { Outgoing } from "./outgoing.ts";

export interface PageState {
  readonly connection: ClientState;
  /** Whether it was in before: then a lost connection is one that is looked for again. */
  readonly wasIn: boolean;
  readonly welcome?: Welcome;
  /** Why the token does not work. */
  readonly refusal?: string;
  readonly agents: readonly AgentInfo[];
  readonly sessions: SessionList;
  readonly conversation: Conversation;
  /** The session that is shown, if it is there already. */
  readonly session?: SessionInfo;
  /** For the next message of a session that is not there yet. */
  readonly agentId?: string;
  readonly outgoing: readonly Outgoing[];
  /** What waits for an answer, of all sessions. */
  readonly approvals: readonly Approval[];
  /** By approval, the tool call that it was about, also of those that are answered. */
  readonly calls: ReadonlyMap<string, string>;
  /** Approvals whose answer is on its way. */
  readonly answering: ReadonlySet<string>;
  /** Something that was asked for and did not work. */
  readonly problem?: string;
}

interface SessionList {
  readonly items: readonly SessionInfo[];
  readonly search: string;
  readonly cursor?: string;
  readonly isLoaded: boolean;
}

export type PageAction =
  | {
      readonly type: "connection";
      readonly state: ClientState;
      readonly welcome?: Welcome | undefined;
    }
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "run_event"; readonly frame: RunEvent }
  | { readonly type: "agents"; readonly agents: readonly AgentInfo[] }
  | { readonly type: "agent_chosen"; readonly agentId: string }
  | {
      readonly type: "session";
      readonly sessionKey: string;
      readonly session: SessionInfo | undefined;
    }
  | { readonly type: "search"; readonly search: string }
  | {
      readonly type: "sessions";
      readonly search: string;
      readonly sessions: readonly SessionInfo[];
      readonly cursor?: string | undefined;
      /** More of the list, from this cursor on. Absent: the list anew. */
      readonly after?: string | undefined;
    }
  | { readonly type: "approvals"; readonly approvals: readonly Approval[] }
  | { readonly type: "answering"; readonly approvalId: string; readonly isOnTheWay: boolean }
  | { readonly type: "opened"; readonly sessionKey: string }
  | {
      readonly type: "history";
      readonly sessionKey: string;
      readonly page: HistoryPage;
      /** The messages before this one. Absent: the last ones. */
      readonly before?: string | undefined;
    }
  | { readonly type: "history_failed"; readonly sessionKey: string }
  /** All of one that the history had cut. */
  | {
      readonly type: "message";
      readonly sessionKey: string;
      readonly id: string;
      readonly message: HistoryMessage;
    }
  | { readonly type: "run_lost"; readonly sessionKey: string; readonly runId: string }
  | { readonly type: "sending"; readonly message: Outgoing }
  | { readonly type: "sent"; readonly id: string; readonly result: SendResult }
  | { readonly type: "not_sent"; readonly id: string; readonly problem: string }
  | { readonly type: "dismissed"; readonly id: string }
  | { readonly type: "problem"; readonly message: string | undefined };

export type ActionOf<Type extends PageAction["type"]> = Extract<
  PageAction,
  { readonly type: Type }
>;
