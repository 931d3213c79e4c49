/** The reducer of the page's state. Pure, so that it can be tested without a page. */
import type { RunEvent } from "../../gateway/client/client.ts";
import { withAnswering, withApprovalEvent, withApprovals } from "./approvals.ts";
import {
  newConversation,
  withEarlier,
  withEvent,
  withHistory,
  withLost,
  withMessage,
} from "./conversation.ts";
import { noteAnswer, noteEvent, noteRefusal } from "./outgoing.ts";
import type { PageAction, PageState } from "./page-state.ts";
import { ofSession, withOpened, withSession, withSessions } from "./shown-session.ts";

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
    case "session":
      return withSession(state, action);
    case "search":
      return { ...state, sessions: { ...state.sessions, search: action.search } };
    case "sessions":
      return withSessions(state, action);
    case "approvals":
      return withApprovals(state, action);
    case "answering":
      return withAnswering(state, action);
    case "opened":
      return withOpened(state, action);
    case "history": {
      const { page, before } = action;
      return ofSession(state, action, (shown) =>
        before === undefined ? withHistory(shown, page) : withEarlier(shown, page, before),
      );
    }
    case "message":
      return ofSession(state, action, (shown) => withMessage(shown, action.id, action.message));
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
    case "not_sent":
      return { ...state, outgoing: noteRefusal(state.outgoing, action.id, action.problem) };
    case "dismissed":
      return { ...state, outgoing: state.outgoing.filter(({ id }) => id !== action.id) };
    case "problem": {
      const { problem: _old, ...rest } = state;
      return action.message === undefined ? rest : { ...rest, problem: action.message };
    }
  }
}

function withRunEvent(state: PageState, frame: RunEvent): PageState {
  const next = withApprovalEvent(state, frame);
  const outgoing = noteEvent(state.outgoing, frame);
  const arrived =
    frame.event === "chat.user" ? state.outgoing.filter((one) => !outgoing.includes(one)) : [];
  const images = arrived.flatMap((one) => one.images ?? []);
  return ofSession({ ...next, outgoing }, frame.data, (shown) =>
    withEvent(shown, frame, next.calls, images),
  );
}
