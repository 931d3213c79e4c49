/** The tasks that the drill's clients send, and the expected answers. */

/** A task with a number of tool calls and words. Its name is unique. */
export interface Task {
  readonly name: string;
  readonly calls: number;
  readonly words: number;
}

export function messageOf({ name, calls, words }: Task): string {
  return `task ${name} ${calls} ${words}`;
}

export function taskOf(message: string): Task | undefined {
  const [, name, calls, words] = /^task (\S+) (\d+) (\d+)$/.exec(message) ?? [];
  return name === undefined ? undefined : { name, calls: Number(calls), words: Number(words) };
}

/** Returns the last text of the model. */
export function answerOf({ name, words }: Task): string {
  return `${Array.from({ length: words }, (_, index) => `${name}.${index}`).join(" ")} done`;
}

/**
 * One line about something a client is sure of. It is written before the client continues, so that
 * it survives a kill of the client.
 */
export type Fact =
  /** The server acknowledged the message. */
  | {
      readonly type: "accepted";
      readonly sessionKey: string;
      readonly runId: string;
      readonly text: string;
      readonly isOwnRun: boolean;
      /** Milliseconds since the epoch. */
      readonly at: number;
    }
  /** An abort was requested. A run that had not begun then leaves no trace. */
  | { readonly type: "aborting"; readonly sessionKey: string; readonly runId: string }
  | { readonly type: "ended"; readonly runId: string };
