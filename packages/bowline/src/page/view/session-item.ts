/** One session in the list, with its actions. */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { html } from "htm/preact";
import { formatAddress } from "../address.ts";
import type { SessionInfo } from "../../gateway/protocol/protocol.ts";
import { when } from "../text/wording.ts";
import { Confirm } from "./confirm.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";
import { useSessionMode } from "./use-session-mode.ts";

export interface SessionItemProps {
  readonly session: SessionInfo;
  readonly isShown: boolean;
  readonly isReadOnly: boolean;
  /** A call in this session waits for an approval. */
  readonly isAsking: boolean;
}

const MAX_TITLE = 200;

export function SessionItem({ session, isShown, isReadOnly, isAsking }: SessionItemProps): VNode {
  const { controller, show } = useTools();
  const { mode, setMode, toggle, close, onKeyDown, onFocusOut } = useSessionMode();
  const { sessionKey } = session;
  const title = titleOf(session);
  const fork = async (): Promise<void> => {
    setMode("plain");
    const made = await controller.fork(sessionKey);
    if (made !== undefined) show(made);
  };
  const remove = (isYes: boolean): void => {
    close();
    if (!isYes) return;
    controller.delete(sessionKey);
    if (isShown) show("");
  };
  return html`<li
    class=${isShown ? "session is-shown" : "session"}
    onKeyDown=${onKeyDown}
    onFocusOut=${onFocusOut}
  >
    ${
      mode === "rename"
        ? html`<${Rename}
            title=${title}
            onDone=${(next: string | undefined) => {
              if (next !== undefined) controller.rename(sessionKey, next);
              close();
            }}
          />`
        : html`<${SessionLink} session=${session} isShown=${isShown} isAsking=${isAsking} />`
    }
    ${
      !isReadOnly &&
      mode !== "rename" &&
      html`<button
        type="button"
        ref=${toggle}
        class="quiet icon-only"
        aria-expanded=${mode === "actions"}
        onClick=${() => setMode(mode === "actions" ? "plain" : "actions")}
      >
        ${icon("dots")}<span class="offscreen">Actions for ${title}</span>
      </button>`
    }
    ${
      mode === "actions" &&
      html`<div class="session-actions">
        <button type="button" onClick=${() => setMode("rename")}>Rename</button>
        <button type="button" onClick=${() => void fork()}>Fork</button>
        <button type="button" class="danger" onClick=${() => setMode("delete")}>Delete</button>
      </div>`
    }
    ${
      mode === "delete" &&
      html`<${Confirm}
        question="Delete this conversation?"
        detail=${`“${title}” will be deleted permanently. Its runs are stopped.`}
        action="Delete"
        onAnswer=${remove}
      />`
    }
  </li>`;
}

function SessionLink({ session, isShown, isAsking }: Omit<SessionItemProps, "isReadOnly">): VNode {
  const { now } = useTools();
  const { sessionKey, updatedAt, runs, forkedFrom } = session;
  const status = isAsking ? "asks" : runs.some(({ state }) => state === "running") ? "works" : "";
  return html`<a href=${formatAddress(sessionKey)} aria-current=${isShown ? "page" : undefined}>
    <span class="session-title">
      ${forkedFrom !== undefined && html`${icon("fork")}<span class="offscreen">Fork of </span>`}${titleOf(session)}
    </span>
    <span class="session-when">
      ${status === "asks" && html`<span class="badge">asks</span>`}
      ${status === "works" && html`<span class="pulse"></span><span class="offscreen">works</span>`}
      ${status === "" && when(updatedAt, now())}
    </span>
  </a>`;
}

export function titleOf({ title, sessionKey }: Pick<SessionInfo, "title" | "sessionKey">): string {
  if (title !== undefined && title.trim() !== "") return title;
  return /^[\da-f]{8}-/.test(sessionKey) ? "New conversation" : sessionKey;
}

function Rename({
  title,
  onDone,
}: {
  readonly title: string;
  readonly onDone: (title?: string) => void;
}): VNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return html`<form
    class="rename"
    onSubmit=${(event: Event) => {
      event.preventDefault();
      const next = field.current?.value.trim() ?? "";
      onDone(next === "" || next === title ? undefined : next);
    }}
  >
    <input ref=${field} aria-label="Title" maxlength=${MAX_TITLE} defaultValue=${title} />
    <button type="submit">Save</button>
  </form>`;
}
