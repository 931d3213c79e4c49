/**
 * Values that the browser stores for the page. Without storage the page still works but remembers
 * nothing.
 */
export interface Keep {
  get(name: string): string | undefined;
  /** Stores a value; without a value, removes it. */
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
