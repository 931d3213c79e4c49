/**
 * Moves the focus to the message when the focused question is answered, so that a second key press
 * does not answer another question.
 */
import { useEffect } from "preact/hooks";
import { focusMessage } from "./use-keys.ts";

export function useFocusBack(place: { readonly current: HTMLDivElement | null }): void {
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
