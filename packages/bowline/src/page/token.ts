/**
 * Stores the token in sessionStorage, so that it survives a reload and disappears with the tab. In
 * localStorage it would stay on the disk, readable by whatever listens on the same port later. It
 * is stored there only on request.
 */
import type { Keep } from "./storage.ts";

const NAME = "token";
/**
 * The tab's previous token. It is stored until the new one is accepted, since a link may contain a
 * wrong token.
 */
const BEFORE = "token.before";

export interface TokenKeep {
  read(): string | undefined;
  write(token: string, isRemembered: boolean): void;
  /**
   * Forgets this token everywhere and restores the tab's previous one. Without an argument, forgets
   * all.
   */
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
