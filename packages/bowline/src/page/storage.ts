/**
 * What the browser keeps for the page. A browser that keeps nothing makes the page forgetful, not
 * broken.
 */
export interface Keep {
  get(name: string): string | undefined;
  /** Without a value it is forgotten. */
  set(name: string, value?: string): void;
}

export function keepIn(storage: () => Storage): Keep {
  return {
    get(name) {
      try {
        return storage().getItem(`bowline.${name}`) ?? undefined;
      } catch {
        return undefined; // blocked by a setting
      }
    },
    set(name, value) {
      try {
        if (value === undefined) storage().removeItem(`bowline.${name}`);
        else storage().setItem(`bowline.${name}`, value);
      } catch {
        // blocked, or full
      }
    },
  };
}
