/** Page-wide keyboard shortcuts. */
import { useEffect } from "preact/hooks";

export interface PageKeys {
  /** Called for Escape, unless a focused element handled it. */
  readonly onEscape: () => void;
  readonly onNew: () => void;
}

/**
 * Escape stops the run, Alt+A focuses a waiting question, Alt+N starts a new session, Alt+M focuses
 * the message.
 */
export function useKeys({ onEscape, onNew }: PageKeys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.key === "Escape")
        return document.querySelector("dialog[open]") === null ? onEscape() : undefined;
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      // By physical key: with Alt, some systems produce other letters.
      const act = { KeyA: focusQuestion, KeyN: onNew, KeyM: focusMessage }[event.code];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
}

function focusQuestion(): void {
  const question = document.querySelector<HTMLElement>(".question");
  question?.scrollIntoView({ block: "nearest" });
  question?.focus();
}

export function focusMessage(): void {
  document.querySelector<HTMLElement>("#message")?.focus();
}
