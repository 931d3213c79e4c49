/**
 * The token is kept for the tab, in sessionStorage: it survives a reload and goes with the tab. In
 * localStorage it would stay on the disk, to be read by whatever listens on the same port later;
 * there it is put only when that is asked for.
 */
import type { Keep } from "./storage.ts";

const NAME = "token";

export interface TokenKeep {
  read(): string | undefined;
  write(token: string, isRemembered: boolean): void;
  /** This one, wherever it is; without one, all. */
  forget(token?: string): void;
}

export function createTokenKeep(tab: Keep, machine: Keep): TokenKeep {
  return {
    read: () => tab.get(NAME) ?? machine.get(NAME),
    write(token, isRemembered) {
      tab.set(NAME, token);
      if (isRemembered) machine.set(NAME, token);
    },
    forget(token) {
      for (const keep of [tab, machine])
        if (token === undefined || keep.get(NAME) === token) keep.set(NAME);
    },
  };
}
