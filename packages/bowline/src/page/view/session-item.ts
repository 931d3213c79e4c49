/** One session in the list, with what can be done to it. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "htm/preact";
import { formatAddress } from "../address.ts";
import type { SessionInfo } from "../../gateway/protocol/protocol.ts";
import { when } from "../text/wording.ts";
import { Confirm } from "./confirm.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";

export interface SessionItemProps {
  readonly session: SessionInfo;
  readonly isShown: boolean;
  readonly isReadOnly: boolean;
  /** A call there waits for an answer. */
  readonly isAsking: boolean;
}

const MAX_TITLE = 200;

export function SessionItem({ session, isShown, isReadOnly, isAsking }: SessionItemProps): VNode {
  const { controller, show, now } = useTools();
  const [mode, setMode] = useState<"plain" | "actions" | "rename" | "delete">("plain");
  const toggle = useRef<HTMLButtonElement>(null);
  const { sessionKey, updatedAt, runs, forkedFrom } = session;
  const title = titleOf(session);
  const close = (): void => {
    setMode("plain");
    toggle.current?.focus();
  };
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
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || (mode !== "actions" && mode !== "rename")) return;
    event.preventDefault();
    close();
  };
  /** Who goes on elsewhere is done with them. */
  const onLeave = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    const isGone =
      relatedTarget instanceof Node && !(currentTarget as Node).contains(relatedTarget);
    if (mode === "actions" && isGone) setMode("plain");
  };
  const status = isAsking ? "asks" : runs.some(({ state }) => state === "running") ? "works" : "";
  return html`<li
    class=${isShown ? "session is-shown" : "session"}
    onKeyDown=${onKeyDown}
    onFocusOut=${onLeave}
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
        : html`<a href=${formatAddress(sessionKey)} aria-current=${isShown ? "page" : undefined}>
            <span class="session-title">
              ${forkedFrom !== undefined && html`${icon("fork")}<span class="offscreen">Fork of </span>`}${title}
            </span>
            <span class="session-when">
              ${status === "asks" && html`<span class="badge">asks</span>`}
              ${status === "works" && html`<span class="pulse"></span><span class="offscreen">works</span>`}
              ${status === "" && when(updatedAt, now())}
            </span>
          </a>`
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
        detail=${`“${title}” will be gone for good. What runs there is stopped.`}
        action="Delete"
        onAnswer=${remove}
      />`
    }
  </li>`;
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
