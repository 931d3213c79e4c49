/** What becomes of the page's state; pure, so that it can be tested without a page. */
import type { RunEvent } from "../../gateway/client/client.ts";
import type { Approval, SessionInfo } from "../../gateway/protocol/protocol.ts";
import {
  newConversation,
  withEarlier,
  withEvent,
  withHistory,
  withLost,
  type Conversation,
} from "./conversation.ts";
import { noteAnswer, noteEvent } from "./outgoing.ts";
import type { PageAction, PageState } from "./page-state.ts";

export function initialState(sessionKey: string): PageState {
  return {
    connection: "connecting",
    wasIn: false,
    agents: [],
    sessions: { items: [], search: "", isLoaded: false },
    conversation: newConversation(sessionKey),
    outgoing: [],
    approvals: [],
    calls: new Map(),
    answering: new Set(),
  };
}

export function reduce(state: PageState, action: PageAction): PageState {
  switch (action.type) {
    case "connection": {
      const { state: connection, welcome = state.welcome } = action;
      return {
        ...state,
        connection,
        wasIn: state.wasIn || connection === "open",
        ...(welcome && { welcome }),
      };
    }
    case "refused":
      return { ...state, refusal: action.message };
    case "run_event":
      return withRunEvent(state, action.frame);
    case "agents":
      return { ...state, agents: action.agents };
    case "agent_chosen":
      return { ...state, agentId: action.agentId };
    case "session": {
      if (action.sessionKey !== state.conversation.sessionKey) return state;
      const { session: _old, ...rest } = state;
      return action.session === undefined ? rest : { ...rest, session: action.session };
    }
    case "search":
      return { ...state, sessions: { ...state.sessions, search: action.search } };
    case "sessions": {
      const { search, sessions, cursor, after } = action;
      // Answers to what is not asked any more, or was asked twice.
      if (search !== state.sessions.search) return state;
      if (after !== undefined && after !== state.sessions.cursor) return state;
      const items = after !== undefined ? [...state.sessions.items, ...sessions] : sessions;
      const list = { items, search, isLoaded: true, ...(cursor !== undefined && { cursor }) };
      return { ...state, sessions: list, ...shownOf(items, state.conversation.sessionKey) };
    }
    case "approvals":
      return {
        ...state,
        approvals: action.approvals,
        calls: withCalls(state.calls, action.approvals),
      };
    case "answering": {
      const answering = new Set(state.answering);
      if (action.isOnTheWay) answering.add(action.approvalId);
      else answering.delete(action.approvalId);
      return { ...state, answering };
    }
    case "opened": {
      const { agentId: _chosen, problem: _old, session: _other, ...rest } = state;
      const { sessionKey } = action;
      return {
        ...rest,
        conversation: newConversation(sessionKey),
        ...shownOf(state.sessions.items, sessionKey),
      };
    }
    case "history": {
      const { page, before } = action;
      return ofSession(state, action, (shown) =>
        before === undefined ? withHistory(shown, page) : withEarlier(shown, page, before),
      );
    }
    case "history_failed":
      return ofSession(state, action, (shown) => ({ ...shown, status: "failed" }));
    case "run_lost":
      return ofSession(state, action, (shown) => withLost(shown, action.runId));
    case "sending": {
      const others = state.outgoing.filter(({ id }) => id !== action.message.id);
      return { ...state, outgoing: [...others, action.message] };
    }
    case "sent":
      return { ...state, outgoing: noteAnswer(state.outgoing, action.id, action.result) };
    case "not_sent": {
      const { id, problem } = action;
      const outgoing = state.outgoing.map((one) =>
        one.id === id ? { ...one, state: "refused" as const, problem } : one,
      );
      return { ...state, outgoing };
    }
    case "dismissed":
      return { ...state, outgoing: state.outgoing.filter(({ id }) => id !== action.id) };
    case "problem": {
      const { problem: _old, ...rest } = state;
      return action.message === undefined ? rest : { ...rest, problem: action.message };
    }
  }
}

function withRunEvent(state: PageState, frame: RunEvent): PageState {
  const { event, data } = frame;
  let { approvals, calls, answering } = state;
  if (event === "exec.approval_request") {
    const { seq: _seq, ...approval } = data;
    approvals = [
      ...approvals.filter(({ approvalId }) => approvalId !== approval.approvalId),
      approval,
    ];
    calls = withCalls(calls, [approval]);
  } else if (event === "exec.approval_resolved") {
    approvals = approvals.filter(({ approvalId }) => approvalId !== data.approvalId);
    answering = new Set([...answering].filter((id) => id !== data.approvalId));
  } else if (event === "chat.final" || event === "chat.error" || event === "chat.aborted")
    approvals = approvals.filter(({ runId }) => runId !== data.runId);
  const outgoing = noteEvent(state.outgoing, frame);
  const next = { ...state, approvals, calls, answering, outgoing };
  const arrived =
    event === "chat.user" ? state.outgoing.filter((one) => !outgoing.includes(one)) : [];
  const images = arrived.flatMap((one) => one.images ?? []);
  return ofSession(next, data, (shown) => withEvent(shown, frame, calls, images));
}

function withCalls(
  calls: ReadonlyMap<string, string>,
  approvals: readonly Approval[],
): ReadonlyMap<string, string> {
  return new Map([
    ...calls,
    ...approvals.map(({ approvalId, toolCallId }) => [approvalId, toolCallId] as const),
  ]);
}

function shownOf(items: readonly SessionInfo[], sessionKey: string): Pick<PageState, "session"> {
  const session = items.find((one) => one.sessionKey === sessionKey);
  return session === undefined ? {} : { session };
}

/** What is about a session that is not shown any more changes nothing. */
function ofSession(
  state: PageState,
  { sessionKey }: { readonly sessionKey: string },
  change: (shown: Conversation) => Conversation,
): PageState {
  return state.conversation.sessionKey === sessionKey
    ? { ...state, conversation: change(state.conversation) }
    : state;
}
