/**
 * Shows messages that are not in the conversation yet: those this tab could not send, and those
 * queued on the server by any tab.
 */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { WaitingMessage } from "../../gateway/protocol/protocol.ts";
import { currentRun } from "../state/conversation.ts";
import type { Outgoing } from "../state/outgoing.ts";
import type { PageState } from "../state/page-state.ts";
import type { SentImage } from "../state/sent-image.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";

interface WaitingProps {
  readonly state: PageState;
  readonly isReadOnly: boolean;
}

export function Waiting({
  state: { outgoing, conversation },
  isReadOnly,
}: WaitingProps): VNode | undefined {
  const { sessionKey, waiting } = conversation;
  const own = outgoing.filter(
    (one) =>
      one.sessionKey === sessionKey &&
      (one.state === "refused" || (one.state === "sending" && one.mode === "steer")),
  );
  if (own.length + waiting.length === 0) return undefined;
  const isRunning = currentRun(conversation) !== undefined;
  return html`<ul class="waiting" aria-label="Messages that wait">
    ${own.map((message) => html`<${OwnMessage} key=${message.id} message=${message} />`)}
    ${waiting.map((message) => {
      // Only the sending tab knows the names of the images.
      const { images = message.images } = outgoing.find(({ id }) => id === message.messageId) ?? {};
      return html`<${KeptMessage}
        key=${message.messageId}
        ...${{ message, images, isRunning, isReadOnly }}
      />`;
    })}
  </ul>`;
}

function OwnMessage({ message }: { readonly message: Outgoing }): VNode {
  const { controller } = useTools();
  const { state, problem, text, images } = message;
  if (state !== "refused")
    return html`<li><span class="waiting-how">On its way</span>${said(text, images)}</li>`;
  return html`<li class="is-failure">
    <span class="waiting-how">${icon("alert")}Not sent: ${problem}</span>${said(text, images)}
    <button type="button" class="quiet" onClick=${() => controller.resend(message)}>
      Send again
    </button>
    ${dropButton("Discard", () => controller.dismiss(message))}
  </li>`;
}

interface KeptProps {
  readonly message: WaitingMessage;
  readonly images: readonly SentImage[] | undefined;
  readonly isRunning: boolean;
  readonly isReadOnly: boolean;
}

function KeptMessage({ message, images, isRunning, isReadOnly }: KeptProps): VNode {
  const { controller } = useTools();
  const { messageId, kind, text, files = [], added = [] } = message;
  const labels = added.map(({ label }) => ({ mimeType: label }));
  return html`<li>
    <span class="waiting-how">${howOf(kind, isRunning)}</span>${said(text, [...(images ?? []), ...files, ...labels])}
    ${kind === "send" && !isReadOnly && dropButton("Do not send", () => controller.cancel(messageId))}
  </li>`;
}

/** Returns the status of a message. The server keeps messages that a stopped run did not take. */
function howOf(kind: WaitingMessage["kind"], isRunning: boolean): string {
  if (kind === "send") return "Queued";
  return isRunning ? "Added at the next step" : "Added with the next message";
}

function said(text: string, images: readonly SentImage[] = []): VNode {
  const names = images.map(({ name, mimeType }) => name ?? mimeType).join(", ");
  return html`<span class="waiting-text">${names === "" ? text : `${text} (${names})`}</span>`;
}

function dropButton(label: string, onClick: () => void): VNode {
  return html`<button type="button" class="quiet icon-only" onClick=${onClick}>
    ${icon("close")}<span class="offscreen">${label}</span>
  </button>`;
}
