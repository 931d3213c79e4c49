/**
 * Follows a session's file: yields the current entries, then new ones from any writer, without gaps
 * or incomplete lines.
 */
import { watch, type FSWatcher } from "node:fs";
import { onAbort, type Clock } from "../../clock.ts";
import type { AnyEntry } from "../entry.ts";
import type { FollowOptions } from "../store.ts";
import { entriesForward, placeOf, type LogFile } from "./read-log.ts";

export interface FollowLogOptions extends FollowOptions {
  readonly clock: Clock;
  /** Interval for checking the file when the system reports no changes, in milliseconds. */
  readonly pollMs: number;
}

export async function* followLog(
  file: LogFile,
  options: FollowLogOptions,
): AsyncGenerator<AnyEntry[]> {
  const { from = 0, signal, onDamage } = options;
  const changes = watchFile(file.path, options);
  const isOver = (): boolean => signal?.aborted === true;
  try {
    let next = from;
    let place: number | undefined;
    while (!isOver()) {
      changes.forget(); // before stat, so that a later change triggers another round
      const { size, nlink } = await file.handle.stat();
      // The file is shorter than before after a failed write was truncated.
      if (place === undefined || size < place) place = await placeOf(file, next, size);
      for await (const { entries, end } of entriesForward(file, place, size, onDamage)) {
        place = end;
        const fresh = entries.filter(({ seq }) => seq >= next);
        if (fresh.length === 0) continue;
        next = (fresh.at(-1) as AnyEntry).seq + 1;
        yield fresh;
        if (isOver()) return;
      }
      if (nlink === 0) return; // deleted, and read to its end
      await changes.wait();
    }
  } finally {
    changes.close();
  }
}

interface Changes {
  forget(): void;
  /** Resolves at a change since `forget`, after `pollMs`, or when the signal fires. */
  wait(): Promise<void>;
  close(): void;
}

function watchFile(path: string, { signal, clock, pollMs }: FollowLogOptions): Changes {
  let hasChanged = false;
  let wake = (): void => {};
  const change = (): void => {
    hasChanged = true;
    wake();
  };
  const watcher = tryToWatch(path, change);
  const release = onAbort(signal, change);
  return {
    forget: () => void (hasChanged = false),
    wait: () =>
      new Promise((resolve) => {
        if (hasChanged || signal?.aborted === true) return resolve();
        const cancel = clock.setTimer(pollMs, () => wake());
        wake = () => {
          cancel();
          resolve();
        };
      }),
    close() {
      watcher?.close();
      release();
    },
  };
}

/**
 * Watches the file if possible. Some file systems report no changes, and the number of watchers is
 * limited; polling is the fallback.
 */
function tryToWatch(path: string, change: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, change).on("error", () => {});
  } catch {
    return undefined;
  }
}
