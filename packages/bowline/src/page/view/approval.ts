/**
 * Asks whether a call may run. It does not take the focus, because a person who is typing could
 * answer by accident. It is announced, Alt+A focuses it, and letters answer it.
 */
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { html } from "htm/preact";
import type { Approval, Decision } from "../../gateway/protocol/protocol.ts";
import { visible } from "../text/visible.ts";
import { decisionWords } from "../text/wording.ts";
import { AskedCall } from "./asked-call.ts";
import { useTools } from "./context.ts";
import { useFocusBack } from "./use-focus-back.ts";

interface QuestionProps {
  readonly approval: Approval;
  readonly isAnswering: boolean;
  readonly isReadOnly: boolean;
}

/** The answers and their letters. */
const choices: readonly {
  readonly decision: Decision;
  readonly letter: string;
  readonly isForPattern: boolean;
}[] = [
  { decision: "allow-once", letter: "a", isForPattern: false },
  { decision: "deny", letter: "d", isForPattern: false },
  { decision: "allow-session", letter: "s", isForPattern: true },
  { decision: "allow-always", letter: "w", isForPattern: true },
];

export function ApprovalQuestion({ approval, isAnswering, isReadOnly }: QuestionProps): VNode {
  const { controller } = useTools();
  const place = useRef<HTMLDivElement>(null);
  const { toolName, command, pattern, summary } = approval;
  useFocusBack(place);
  const { mayAllowAlways } = controller;
  const offered = choices.filter(
    ({ decision, isForPattern }) =>
      !isForPattern || (pattern !== undefined && (decision !== "allow-always" || mayAllowAlways)),
  );
  const remembering = mayAllowAlways ? "The last two remember" : "The last remembers";
  const answer = (decision: Decision): void => {
    if (!isReadOnly) controller.answer(approval, decision);
  };
  // The second click of a double click would answer the next question, which appears in the same
  // place.
  const click = (decision: Decision, { detail }: MouseEvent): void => {
    if (detail < 2) answer(decision);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, ctrlKey, altKey, metaKey } = event;
    const choice = offered.find(({ letter }) => letter === key.toLowerCase());
    if (choice === undefined || ctrlKey || altKey || metaKey || event.repeat) return;
    event.preventDefault();
    answer(choice.decision);
  };
  return html`<div
    class="question"
    ref=${place}
    role="group"
    tabindex="-1"
    aria-label=${`May this run? ${summary}`}
    onKeyDown=${onKeyDown}
  >
    <p class="question-head">
      <span
        >May <strong>${visible(toolName)}</strong> ${command === undefined ? "do" : "run"}${" "}
        this?</span
      >
      ${!isReadOnly && html`<span class="question-key" aria-hidden="true"><kbd>Alt</kbd> <kbd>A</kbd> comes here</span>`}
    </p>
    <${AskedCall} approval=${approval} />
    ${
      isReadOnly
        ? html`<p class="question-note">Your token is read-only: someone else must answer.</p>`
        : html`<div class="choices">
            ${offered.map(
              ({ decision, letter }) =>
                html`<button
                  type="button"
                  class=${`choice ${decision}`}
                  disabled=${isAnswering}
                  aria-keyshortcuts=${letter}
                  onClick=${(event: MouseEvent) => click(decision, event)}
                >
                  ${decisionWords[decision]}<kbd aria-hidden="true">${letter.toUpperCase()}</kbd>
                </button>`,
            )}
          </div>`
    }
    ${
      pattern !== undefined &&
      !isReadOnly &&
      html`<p class="question-note">
        ${remembering} <code>${visible(pattern)}</code> for ${visible(toolName)}.
      </p>`
    }
  </div>`;
}
