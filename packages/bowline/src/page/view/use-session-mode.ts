/** The state of a session in the list: which part is open. */
import { useRef, useState } from "preact/hooks";

/** `rename`: the title is being edited. `delete`: confirmation is shown. */
type SessionMode = "plain" | "actions" | "rename" | "delete";

export interface SessionModeState {
  readonly mode: SessionMode;
  readonly setMode: (mode: SessionMode) => void;
  /** The button that opens the actions; it gets the focus back. */
  readonly toggle: { readonly current: HTMLButtonElement | null };
  readonly close: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onFocusOut: (event: FocusEvent) => void;
}

export function useSessionMode(): SessionModeState {
  const [mode, setMode] = useState<SessionMode>("plain");
  const toggle = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setMode("plain");
    toggle.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || (mode !== "actions" && mode !== "rename")) return;
    event.preventDefault();
    close();
  };
  /** Closes the actions when the focus moves elsewhere. */
  const onFocusOut = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    const isGone =
      relatedTarget instanceof Node && !(currentTarget as Node).contains(relatedTarget);
    if (mode === "actions" && isGone) setMode("plain");
  };
  return { mode, setMode, toggle, close, onKeyDown, onFocusOut };
}
