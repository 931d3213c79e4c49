/** The text being written. Stored by session until it is sent; survives a reload. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useTools } from "./context.ts";

export interface Draft {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Checks the current state, which may be newer than the last render. */
  readonly isEmpty: () => boolean;
  readonly field: { current: HTMLTextAreaElement | null };
}

export function useDraft(sessionKey: string): Draft {
  const { tab } = useTools();
  const name = `draft.${sessionKey}`;
  const [text, write] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  // Load before the first paint, so that another session's text is not shown or sent.
  useLayoutEffect(() => write(tab.get(name) ?? ""), [tab, name]);
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  const setText = (next: string): void => {
    write(next);
    tab.set(name, next === "" ? undefined : next);
  };
  return { text, setText, isEmpty: () => text === "" && tab.get(name) === undefined, field };
}
