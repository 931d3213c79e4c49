/** Calls an effect. Once its attempt is over, the promise stays pending, so the loop stands still. */
export function whileLive<T>(ended: AbortSignal, call: () => T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (ended.aborted) return;
    const pass = (settle: () => void): void => {
      if (!ended.aborted) settle();
    };
    Promise.resolve(call()).then(
      (value) => pass(() => resolve(value)),
      (error: unknown) => pass(() => reject(error)),
    );
  });
}
