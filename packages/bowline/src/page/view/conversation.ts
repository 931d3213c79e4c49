/** Shows the conversation of the current session. */
import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { html } from "htm/preact";
import { runsOf } from "../state/conversation.ts";
import type { Outgoing } from "../state/outgoing.ts";
import type { PageState } from "../state/page-state.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";
import { Run } from "./run.ts";
import { SentImages } from "./sent-images.ts";
import { useStickToBottom } from "./stick-to-bottom.ts";
import { Welcome } from "./welcome.ts";

export function ConversationView({
  state,
  isReadOnly,
}: {
  state: PageState;
  isReadOnly: boolean;
}): VNode {
  const { controller } = useTools();
  const { conversation, outgoing, approvals, answering } = state;
  const { sessionKey, status, hasMore } = conversation;
  const runs = useMemo(() => runsOf(conversation), [conversation]);
  const { scroller, content, isAtEnd, toEnd } = useStickToBottom(
    sessionKey,
    conversation.entries[0]?.id,
  );
  // A message that starts a run is shown at its final place.
  const beginning = outgoing.filter(
    (one) =>
      one.sessionKey === sessionKey &&
      one.mode === "send" &&
      (one.state === "taken" || one.state === "sending"),
  );
  // Scroll to the end after sending.
  const lastSent = outgoing.at(-1)?.id;
  useEffect(() => {
    if (lastSent !== undefined) toEnd();
  }, [lastSent, toEnd]);
  const isAsked = approvals.some((one) => one.sessionKey === sessionKey);
  const isEmpty = runs.length === 0 && beginning.length === 0;
  return html`<div
    class="scroller"
    ref=${scroller}
    tabindex="0"
    role="region"
    aria-label="Conversation"
  >
    <div class="conversation" ref=${content}>
      ${hasMore && html`<button type="button" class="quiet more" onClick=${() => controller.moreHistory()}>Show earlier messages</button>`}
      ${
        status === "failed" &&
        html`<p class="notice">
          The conversation could not be loaded.
          <button type="button" class="quiet" onClick=${() => controller.reload()}>
            Try again
          </button>
        </p>`
      }
      ${isEmpty && status === "ready" && html`<${Welcome} state=${state} isReadOnly=${isReadOnly} />`}
      ${runs.map(
        (run, index) =>
          html`<${Run}
            key=${run.runId}
            run=${run}
            isLast=${index === runs.length - 1}
            approvals=${approvals}
            answering=${answering}
            isReadOnly=${isReadOnly}
            knownNotice=${state.welcome?.notice}
          />`,
      )}
      ${beginning.map((message) => html`<${BeginningMessage} key=${message.id} message=${message} />`)}
    </div>
    ${!isAtEnd && html`<${ToEnd} isAsked=${isAsked} onClick=${toEnd} />`}
  </div>`;
}

/** A message that starts a run and is not in the conversation yet. */
function BeginningMessage({ message: { text, images } }: { readonly message: Outgoing }): VNode {
  return html`<article class="run">
    <div class="asked is-sending">
      <h2 class="offscreen">You, on its way</h2>
      <p>${text}</p>
      <${SentImages} images=${images} />
    </div>
  </article>`;
}

interface ToEndProps {
  /** A question waits at the end. */
  readonly isAsked: boolean;
  readonly onClick: () => void;
}

function ToEnd({ isAsked, onClick }: ToEndProps): VNode {
  return html`<button type="button" class=${isAsked ? "jump is-asked" : "jump"} onClick=${onClick}>
    ${icon("down")}<span class=${isAsked ? "" : "offscreen"}
      >${isAsked ? "It asks you something" : "To the end"}</span
    >
  </button>`;
}
