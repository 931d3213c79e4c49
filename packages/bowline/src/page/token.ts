/**
 * The token is kept for the tab, in sessionStorage: it survives a reload and goes with the tab. In
 * localStorage it would stay on the disk, to be read by whatever listens on the same port later;
 * there it is put only when that is asked for.
 */
import type { Keep } from "./storage.ts";

const NAME = "token";
/** What the tab had before it, until that turns out to be right: a link may have a wrong one. */
const BEFORE = "token.before";

export interface TokenKeep {
  read(): string | undefined;
  write(token: string, isRemembered: boolean): void;
  /** This one, wherever it is: the tab has the one before again. Without one, all. */
  forget(token?: string): void;
}

export function createTokenKeep(tab: Keep, machine: Keep): TokenKeep {
  return {
    read: () => tab.get(NAME) ?? machine.get(NAME),
    write(token, isRemembered) {
      const before = tab.get(NAME);
      if (before !== token) tab.set(BEFORE, before);
      tab.set(NAME, token);
      if (isRemembered) machine.set(NAME, token);
    },
    forget(token) {
      if (token === undefined || machine.get(NAME) === token) machine.set(NAME);
      const isOfTab = tab.get(NAME) === token;
      if (token === undefined || isOfTab) {
        tab.set(NAME, isOfTab ? tab.get(BEFORE) : undefined);
        tab.set(BEFORE);
      }
    },
  };
}
