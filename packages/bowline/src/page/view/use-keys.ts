/** Keys that work wherever the focus is. */
import { useEffect } from "preact/hooks";

export interface PageKeys {
  /** Escape, when nothing nearer took it. */
  readonly onEscape: () => void;
  readonly onNew: () => void;
}

/**
 * Escape stops, Alt+A goes to what waits for an answer, Alt+N begins anew, Alt+M goes to the
 * message.
 */
export function useKeys({ onEscape, onNew }: PageKeys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.key === "Escape")
        return document.querySelector("dialog[open]") === null ? onEscape() : undefined;
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      // By its place on the keyboard: with Alt some systems make other letters of them.
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
