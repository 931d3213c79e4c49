/**
 * Asks before an action that cannot be undone. The browser's dialog traps the focus and restores
 * it.
 */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { html } from "htm/preact";

interface ConfirmProps {
  readonly question: string;
  readonly detail: string;
  readonly action: string;
  readonly onAnswer: (isYes: boolean) => void;
}

export function Confirm({ question, detail, action, onAnswer }: ConfirmProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  /** The browser restores the focus only when the dialog is closed. */
  const answer = (isYes: boolean): void => {
    dialog.current?.close();
    onAnswer(isYes);
  };
  return html`<dialog
    ref=${dialog}
    class="confirm"
    aria-labelledby="confirm-question"
    onCancel=${(event: Event) => {
      event.preventDefault();
      answer(false);
    }}
  >
    <h2 id="confirm-question">${question}</h2>
    <p>${detail}</p>
    <div class="choices">
      <button type="button" autofocus onClick=${() => answer(false)}>Cancel</button>
      <button type="button" class="danger" onClick=${() => answer(true)}>${action}</button>
    </div>
  </dialog>`;
}
