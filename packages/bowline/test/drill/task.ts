/** What the drill's clients ask for, and what its model has to answer. */

/** A task of so many tool calls and words; its name is like no other's. */
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

/** The last thing that the model says. */
export function answerOf({ name, words }: Task): string {
  return `${Array.from({ length: words }, (_, index) => `${name}.${index}`).join(" ")} done`;
}

/**
 * One line of what a client is sure of, written before it goes on, so that it outlives the client.
 */
export type Fact =
  /** The server has said that it has the message. */
  | {
      readonly type: "accepted";
      readonly sessionKey: string;
      readonly runId: string;
      readonly text: string;
      readonly isOwnRun: boolean;
      /** Milliseconds since the epoch. */
      readonly at: number;
    }
  /** It was asked to stop: before it began, such a run leaves no trace. */
  | { readonly type: "aborting"; readonly sessionKey: string; readonly runId: string }
  | { readonly type: "ended"; readonly runId: string };
