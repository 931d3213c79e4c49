/**
 * The question whether a call may run. It never takes the focus by itself: who is typing would
 * answer it unawares. It is announced, and Alt+A goes to it; there, letters answer.
 */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { html } from "htm/preact";
import type { Approval, Decision } from "../../gateway/protocol/protocol.ts";
import { visible } from "../text/visible.ts";
import { decisionWords } from "../text/wording.ts";
import { useTools } from "./context.ts";
import { Given, textPlace } from "./given.ts";
import { focusMessage } from "./use-keys.ts";

interface QuestionProps {
  readonly approval: Approval;
  readonly isAnswering: boolean;
  readonly isReadOnly: boolean;
}

/** With its letter. */
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

/** More than that may not fit in the box. */
const SHORT = { lines: 15, length: 700 };

export function ApprovalQuestion({ approval, isAnswering, isReadOnly }: QuestionProps): VNode {
  const { controller } = useTools();
  const place = useRef<HTMLDivElement>(null);
  const { toolName, command, details, workingDir, reason, pattern, summary } = approval;
  useFocusBack(place);
  const { mayAllowAlways } = controller;
  const offered = choices.filter(
    ({ decision, isForPattern }) =>
      !isForPattern || (pattern !== undefined && (decision !== "allow-always" || mayAllowAlways)),
  );
  const remembering = mayAllowAlways ? "The last two remember" : "The last remembers";
  const note = lengthNote(command === undefined ? details : { command });
  const answer = (decision: Decision): void => {
    if (!isReadOnly) controller.answer(approval, decision);
  };
  // The second click of two that follow fast meets the next question, in the place of the one that
  // was read.
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
    ${
      command === undefined
        ? html`<${Given} value=${details} label="What would be done" />`
        : textPlace(visible(command), "What would run")
    }
    ${note !== undefined && html`<p class="question-note"><strong>${note}</strong></p>`}
    ${workingDir !== undefined && html`<p class="question-note">in <code>${workingDir}</code></p>`}
    ${reason !== undefined && html`<p class="question-note">${reason}</p>`}
    ${
      isReadOnly
        ? html`<p class="question-note">Your token is for reading: somebody else has to answer.</p>`
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

/** Of the longest text in it. */
function lengthNote(given: unknown): string | undefined {
  const texts = Object.values(given ?? {}).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  const [longest = ""] = texts.toSorted((a, b) => b.length - a.length);
  const lines = longest.split("\n").length;
  if (lines <= SHORT.lines && longest.length <= SHORT.length) return undefined;
  return `This is long (${lines} lines, ${longest.length} characters): scroll in the box to see all of it.`;
}

/**
 * When it is answered and had the focus, that goes back to the message: a second press of the key
 * answers nothing else.
 */
function useFocusBack(place: { readonly current: HTMLDivElement | null }): void {
  useEffect(() => {
    const element = place.current;
    return () => {
      const focused = document.activeElement;
      const hadIt = focused === document.body || (element?.contains(focused) ?? false);
      if (hadIt && element?.dataset.visited === "yes") focusMessage();
    };
  }, [place]);
  useEffect(() => {
    const element = place.current;
    const note = (): void => {
      if (element !== null) element.dataset.visited = "yes";
    };
    const leave = (event: FocusEvent): void => {
      const goesOut =
        event.relatedTarget !== null && !element?.contains(event.relatedTarget as Node);
      if (goesOut && element !== null) delete element.dataset.visited;
    };
    element?.addEventListener("focusin", note);
    element?.addEventListener("focusout", leave);
    return () => {
      element?.removeEventListener("focusin", note);
      element?.removeEventListener("focusout", leave);
    };
  }, [place]);
}
