/** The page's state and its actions. */
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
  /** Whether the client was connected before, so that a lost connection is being restored. */
  readonly wasIn: boolean;
  readonly welcome?: Welcome;
  /** Why the token was refused. */
  readonly refusal?: string;
  readonly agents: readonly AgentInfo[];
  readonly sessions: SessionList;
  readonly conversation: Conversation;
  /** The shown session, if it exists. */
  readonly session?: SessionInfo;
  /** The agent for the first message of a new session. */
  readonly agentId?: string;
  readonly outgoing: readonly Outgoing[];
  /** Pending approvals of all sessions. */
  readonly approvals: readonly Approval[];
  /** Tool calls by approval, including answered ones. */
  readonly calls: ReadonlyMap<string, string>;
  /** Approvals whose answer is being sent. */
  readonly answering: ReadonlySet<string>;
  /** The error of a failed request. */
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
      /** Appends the page after this cursor. Absent: replaces the list. */
      readonly after?: string | undefined;
    }
  | { readonly type: "approvals"; readonly approvals: readonly Approval[] }
  | { readonly type: "answering"; readonly approvalId: string; readonly isOnTheWay: boolean }
  | { readonly type: "opened"; readonly sessionKey: string }
  | {
      readonly type: "history";
      readonly sessionKey: string;
      readonly page: HistoryPage;
      /** The page before this message. Absent: the last page. */
      readonly before?: string | undefined;
    }
  | { readonly type: "history_failed"; readonly sessionKey: string }
  /** A whole message that the history had cut. */
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
