/** What of a session in the list is open, and how it is closed. */
import { useRef, useState } from "preact/hooks";

/** `rename`: its title is a field. `delete`: it is asked whether to. */
type SessionMode = "plain" | "actions" | "rename" | "delete";

export interface SessionModeState {
  readonly mode: SessionMode;
  readonly setMode: (mode: SessionMode) => void;
  /** The button that opens the actions: it gets the focus back. */
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
  /** Who goes on elsewhere is done with them. */
  const onFocusOut = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    const isGone =
      relatedTarget instanceof Node && !(currentTarget as Node).contains(relatedTarget);
    if (mode === "actions" && isGone) setMode("plain");
  };
  return { mode, setMode, toggle, close, onKeyDown, onFocusOut };
}
