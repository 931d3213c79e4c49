/** The page after signing in: the list, the conversation and the message form. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "htm/preact";
import { currentRun } from "../state/conversation.ts";
import type { PageAction, PageState } from "../state/page-state.ts";
import type { Store } from "../store.ts";
import { Announcer } from "./announcer.ts";
import { Banner } from "./banner.ts";
import { Composer } from "./composer.ts";
import { useTools } from "./context.ts";
import { ConversationView } from "./conversation.ts";
import { icon } from "./icon.ts";
import { titleOf } from "./session-item.ts";
import { Sidebar } from "./sidebar.ts";
import { focusMessage, useKeys } from "./use-keys.ts";
import { Waiting } from "./waiting.ts";
import { WhoAnswers } from "./who-answers.ts";

/** On narrower screens the list is a drawer. */
const NARROW = "(max-width: 52rem)";
/** Limits before the welcome frame arrives. */
const noLimits = { maxMessageLength: 32_000, maxAttachments: 4, maxAttachmentBytes: 640 * 1024 };

export function App({ store }: { readonly store: Store<PageState, PageAction> }): VNode {
  const { controller, show } = useTools();
  const state = useStore(store);
  const isNarrow = useMedia(NARROW);
  const [isDrawerOpen, openDrawer] = useState(false);
  const { conversation, welcome, session, approvals } = state;
  const { sessionKey } = conversation;
  const isReadOnly = welcome?.scope === "read";
  const isRunning = currentRun(conversation) !== undefined;
  const limits = welcome?.limits ?? noLimits;
  const refused = state.outgoing.find(
    (one) => one.sessionKey === sessionKey && one.state === "refused" && one.images !== undefined,
  );
  const title = session === undefined ? "New conversation" : titleOf(session);
  const isAsked = approvals.some((one) => one.sessionKey === sessionKey);
  useEffect(() => openDrawer(false), [sessionKey]);
  useDocumentTitle(title, isAsked, isRunning);
  const begin = (): void => {
    show("");
    openDrawer(false);
    focusMessage();
  };
  useKeys({
    onEscape: () => (isDrawerOpen ? openDrawer(false) : isReadOnly ? undefined : controller.stop()),
    onNew: () => (isReadOnly ? undefined : begin()),
  });
  return html`<div class=${isDrawerOpen ? "app is-drawer-open" : "app"}>
    <a
      class="skip"
      href="#message"
      onClick=${(event: Event) => {
        event.preventDefault();
        focusMessage();
      }}
      >To the message</a
    >
    <${Sidebar}
      state=${state}
      isReadOnly=${isReadOnly}
      onNew=${begin}
      isHidden=${isNarrow && !isDrawerOpen}
    />
    <div class="shade" onClick=${() => openDrawer(false)}></div>
    <main class="main" inert=${isNarrow && isDrawerOpen}>
      <${TopBar}
        state=${state}
        title=${title}
        isReadOnly=${isReadOnly}
        isDrawerOpen=${isDrawerOpen}
        onOpenDrawer=${() => openDrawer(true)}
      />
      <${Banner} state=${state} isReadOnly=${isReadOnly} />
      <${ConversationView} state=${state} isReadOnly=${isReadOnly} />
      <div class="bottom">
        <${Waiting} state=${state} isReadOnly=${isReadOnly} />
        ${
          !isReadOnly &&
          html`<${Composer}
            sessionKey=${sessionKey}
            isRunning=${isRunning}
            maxLength=${limits.maxMessageLength}
            imageLimits=${limits}
            refused=${refused}
          />`
        }
      </div>
    </main>
    <${Announcer} state=${state} />
  </div>`;
}

interface TopBarProps {
  readonly state: PageState;
  readonly title: string;
  readonly isReadOnly: boolean;
  readonly isDrawerOpen: boolean;
  /** Opens the list where it is a drawer. */
  readonly onOpenDrawer: () => void;
}

function TopBar({ state, title, isReadOnly, isDrawerOpen, onOpenDrawer }: TopBarProps): VNode {
  const { sessionKey } = state.conversation;
  return html`<header class="top">
    <button
      type="button"
      class="quiet icon-only drawer-button"
      aria-expanded=${isDrawerOpen}
      aria-controls="sessions"
      onClick=${onOpenDrawer}
    >
      ${icon("menu")}<span class="offscreen">Conversations</span>
    </button>
    <h1>${title}</h1>
    <${WhoAnswers} key=${sessionKey} state=${state} isReadOnly=${isReadOnly} />
  </header>`;
}

/** Shows in the tab's title whether a question waits or a run is active. */
function useDocumentTitle(title: string, isAsked: boolean, isRunning: boolean): void {
  useEffect(() => {
    document.title = `${isAsked ? "❓ " : isRunning ? "● " : ""}${title} – Bowline`;
  }, [title, isAsked, isRunning]);
}

function useStore(store: Store<PageState, PageAction>): PageState {
  const [state, set] = useState(store.state);
  useEffect(() => {
    set(store.state);
    return store.subscribe(() => set(store.state));
  }, [store]);
  return state;
}

function useMedia(query: string): boolean {
  const [isTrue, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const note = (): void => set(list.matches);
    list.addEventListener("change", note);
    return () => list.removeEventListener("change", note);
  }, [query]);
  return isTrue;
}
