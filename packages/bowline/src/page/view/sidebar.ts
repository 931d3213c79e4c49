/**
 * The list of sessions, with search, status and a button for a new one. On a phone it covers the
 * conversation.
 */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { PageState } from "../state/page-state.ts";
import { useTools } from "./context.ts";
import { icon, knot } from "./icon.ts";
import { SessionItem } from "./session-item.ts";
import { ThemeSwitch } from "./theme.ts";

export interface SidebarProps {
  readonly state: PageState;
  readonly isReadOnly: boolean;
  readonly onNew: () => void;
  /** True if the drawer is closed on a phone. */
  readonly isHidden: boolean;
}

export function Sidebar({ state, isReadOnly, onNew, isHidden }: SidebarProps): VNode {
  const { controller, signOut } = useTools();
  const { sessions, conversation, approvals } = state;
  const { items, search, cursor, isLoaded } = sessions;
  return html`<nav class="sidebar" id="sessions" aria-label="Conversations" inert=${isHidden}>
    <div class="sidebar-top">
      <span class="brand">${knot()}Bowline</span>
      ${
        !isReadOnly &&
        html`<button type="button" class="new" aria-keyshortcuts="Alt+N" onClick=${onNew}>
          ${icon("plus")}New
        </button>`
      }
    </div>
    <label class="search">
      ${icon("search")}<span class="offscreen">Search conversations</span>
      <input
        type="search"
        placeholder="Search"
        value=${search}
        onInput=${(event: Event) => controller.search((event.currentTarget as HTMLInputElement).value)}
        onKeyDown=${(event: KeyboardEvent) => {
          if (event.key !== "Escape" || (event.currentTarget as HTMLInputElement).value === "")
            return;
          event.preventDefault(); // must not stop the current run
          controller.search("");
        }}
      />
    </label>
    <ul class="sessions">
      ${items.map(
        (session) =>
          html`<${SessionItem}
            key=${session.sessionKey}
            session=${session}
            isShown=${session.sessionKey === conversation.sessionKey}
            isReadOnly=${isReadOnly}
            isAsking=${approvals.some(({ sessionKey }) => sessionKey === session.sessionKey)}
          />`,
      )}
    </ul>
    <div class="sidebar-rest">
      ${
        isLoaded &&
        items.length === 0 &&
        html`<p class="faint" role="status">
          ${search === "" ? "No conversations yet." : "Nothing found."}
        </p>`
      }
      ${
        cursor !== undefined &&
        html`<button type="button" class="quiet more" onClick=${() => controller.moreSessions()}>
          Show more
        </button>`
      }
    </div>
    <div class="sidebar-foot">
      <${ThemeSwitch} />
      <button type="button" class="quiet icon-only" onClick=${signOut}>
        ${icon("leave")}<span class="offscreen">Sign out: forget the token</span>
      </button>
    </div>
  </nav>`;
}
