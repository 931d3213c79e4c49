/** The shown session in the page's state. */
import type { SessionInfo } from "../../gateway/protocol/protocol.ts";
import { newConversation, type Conversation } from "./conversation.ts";
import type { ActionOf, PageState } from "./page-state.ts";

/** Shows another session and drops everything about the previous one. */
export function withOpened(state: PageState, { sessionKey }: ActionOf<"opened">): PageState {
  const { agentId: _chosen, problem: _old, session: _other, ...rest } = state;
  return {
    ...rest,
    conversation: newConversation(sessionKey),
    ...shownOf(state.sessions.items, sessionKey),
  };
}

export function withSession(state: PageState, action: ActionOf<"session">): PageState {
  if (action.sessionKey !== state.conversation.sessionKey) return state;
  const { session: _old, ...rest } = state;
  return action.session === undefined ? rest : { ...rest, session: action.session };
}

/** Updates the list of sessions, and the shown session if it is in the list. */
export function withSessions(state: PageState, action: ActionOf<"sessions">): PageState {
  const { search, sessions, cursor, after } = action;
  // Ignore outdated and duplicate responses.
  if (search !== state.sessions.search) return state;
  if (after !== undefined && after !== state.sessions.cursor) return state;
  const items = after !== undefined ? [...state.sessions.items, ...sessions] : sessions;
  const list = { items, search, isLoaded: true, ...(cursor !== undefined && { cursor }) };
  return { ...state, sessions: list, ...shownOf(items, state.conversation.sessionKey) };
}

function shownOf(items: readonly SessionInfo[], sessionKey: string): Pick<PageState, "session"> {
  const session = items.find((one) => one.sessionKey === sessionKey);
  return session === undefined ? {} : { session };
}

/** Changes the conversation if the session is still shown. */
export function ofSession(
  state: PageState,
  { sessionKey }: { readonly sessionKey: string },
  change: (shown: Conversation) => Conversation,
): PageState {
  return state.conversation.sessionKey === sessionKey
    ? { ...state, conversation: change(state.conversation) }
    : state;
}
