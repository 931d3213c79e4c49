/** Shared tools for components. */
import { createContext, type Context } from "preact";
import { useContext } from "preact/hooks";
import type { Controller } from "../controller.ts";
import type { Keep } from "../storage.ts";
import type { MarkdownReader } from "../text/markdown.ts";
import type { Sanitize } from "../text/sanitize.ts";

export interface PageTools {
  readonly controller: Controller;
  readonly reader: MarkdownReader;
  readonly sanitize: Sanitize;
  /** Storage for the tab, and for the machine. */
  readonly tab: Keep;
  readonly machine: Keep;
  readonly now: () => number;
  /** Shows a session and puts it into the address. */
  readonly show: (sessionKey: string) => void;
  readonly signOut: () => void;
}

export const PageContext: Context<PageTools | undefined> = createContext<PageTools | undefined>(
  undefined,
);

export function useTools(): PageTools {
  const tools = useContext(PageContext);
  if (tools === undefined) throw new Error("A component was rendered outside of PageContext.");
  return tools;
}
