/**
 * Banners above the conversation: connection, notices, limits of the token, questions in other
 * sessions, errors.
 */
import type { VNode } from "preact";
import { html } from "htm/preact";
import { formatAddress } from "../address.ts";
import type { PageState } from "../state/page-state.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";
import { titleOf } from "./session-item.ts";

export function Banner({
  state,
  isReadOnly,
}: {
  readonly state: PageState;
  readonly isReadOnly: boolean;
}): VNode {
  const { controller } = useTools();
  const { connection, wasIn, welcome, problem } = state;
  const isAway = connection !== "open" && wasIn;
  const elsewhere = state.approvals.find(
    ({ sessionKey }) => sessionKey !== state.conversation.sessionKey,
  );
  const held = state.session?.heldBy;
  const other = state.sessions.items.find(({ sessionKey }) => sessionKey === elsewhere?.sessionKey);
  return html`<div class="banners">
    <div role="status">
      ${
        isAway &&
        html`<p class="banner is-away">
          <span class="pulse"></span>The connection is lost.${" "}
          ${connection === "connecting" ? "Connecting again…" : "Retrying soon; runs continue."}
        </p>`
      }
      ${!wasIn && connection !== "open" && html`<p class="banner">Connecting…</p>`}
      ${isReadOnly && html`<p class="banner">Your token is read-only: you can see everything but change nothing.</p>`}
      ${
        held !== undefined &&
        html`<p class="banner is-away">
          Another process${held.pid === undefined ? "" : ` (${held.pid})`} has this conversation
          open. You cannot write here meanwhile.
        </p>`
      }
      ${welcome?.notice !== undefined && html`<p class="banner">${welcome.notice}</p>`}
      ${
        elsewhere !== undefined &&
        html`<p class="banner is-asking">
          “${other === undefined ? elsewhere.sessionKey : titleOf(other)}” asks:${" "}
          ${elsewhere.summary}
          <a href=${formatAddress(elsewhere.sessionKey)}>Look</a>
        </p>`
      }
    </div>
    <div role="alert">
      ${
        problem !== undefined &&
        html`<p class="banner is-failure">
          ${icon("alert")}<span>${problem}</span>
          <button type="button" class="quiet icon-only" onClick=${() => controller.forgetProblem()}>
            ${icon("close")}<span class="offscreen">Dismiss</span>
          </button>
        </p>`
      }
    </div>
  </div>`;
}
