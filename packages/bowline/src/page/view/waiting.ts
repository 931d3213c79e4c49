/** Messages that are not in the conversation yet, and why. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import { currentRun } from "../state/conversation.ts";
import type { Outgoing } from "../state/outgoing.ts";
import type { PageState } from "../state/page-state.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";

export function Waiting({ state: { outgoing, conversation } }: { readonly state: PageState }): VNode | undefined {
  const { sessionKey, queued } = conversation;
  const shown = outgoing.filter(
    (one) =>
      one.sessionKey === sessionKey && (one.state === "waiting" || one.state === "refused" || one.mode === "steer"),
  );
  const isRunning = currentRun(conversation) !== undefined;
  const others = queued.filter((runId) => !outgoing.some(({ id }) => id === runId));
  if (shown.length + others.length === 0) return undefined;
  return html`<ul class="waiting" aria-label="Messages that wait">
    ${shown.map((message) => html`<${WaitingMessage} key=${message.id} message=${message} isRunning=${isRunning} />`)}
    ${others.map((runId) => html`<${OthersMessage} key=${runId} runId=${runId} />`)}
  </ul>`;
}

function WaitingMessage({ message, isRunning }: { readonly message: Outgoing; readonly isRunning: boolean }): VNode {
  const { controller } = useTools();
  const { state, mode, problem, id, images = [] } = message;
  const text = images.length === 0 ? message.text : `${message.text} (${images.map(({ name }) => name).join(", ")})`;
  if (state === "refused")
    return html`<li class="is-failure">
      <span class="waiting-how">${icon("alert")}Not sent: ${problem}</span><span class="waiting-text">${text}</span>
      <button type="button" class="quiet" onClick=${() => controller.resend(message)}>Send again</button>
      ${dropButton("Discard", () => controller.dismiss(message))}
    </li>`;
  // What a run that was stopped did not take in is the server's to keep.
  const steers = isRunning ? "Goes in at its next step" : "Goes in with the next message";
  const how = mode === "steer" ? steers : "Waits for its turn";
  return html`<li>
    <span class="waiting-how">${state === "sending" ? "On its way" : how}</span
    ><span class="waiting-text">${text}</span>
    ${mode === "send" && dropButton("Do not send", () => controller.cancel(id))}
    ${mode === "steer" && !isRunning && dropButton("Hide", () => controller.dismiss(message))}
  </li>`;
}

/** Sent from another tab, or before this one was loaded anew. */
function OthersMessage({ runId }: { readonly runId: string }): VNode {
  const { controller } = useTools();
  return html`<li>
    <span class="waiting-how">Waits for its turn</span><span class="waiting-text">A message that was sent earlier</span>
    ${dropButton("Do not send", () => controller.cancel(runId))}
  </li>`;
}

function dropButton(label: string, onClick: () => void): VNode {
  return html`<button type="button" class="quiet icon-only" onClick=${onClick}>
    ${icon("close")}<span class="offscreen">${label}</span>
  </button>`;
}
