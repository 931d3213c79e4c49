/** Reads the task of `bowline run`, including standard input. */
import { addAbortSignal } from "node:stream";

const HINT_AFTER_MS = 1000;

/**
 * Returns the task from the command line plus standard input if that is not a terminal; empty if
 * both are. Returns undefined if `signal` fires before standard input ends.
 */
export async function wholeTask(
  task: string,
  { stdin, stderr }: Pick<NodeJS.Process, "stdin" | "stderr">,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let input = "";
  if (!stdin.isTTY) {
    const hint = setTimeout(
      () =>
        stderr.write(
          "bowline: Waiting for the end of standard input, which is added to the task. To skip it, add < /dev/null.\n",
        ),
      HINT_AFTER_MS,
    );
    stdin.setEncoding("utf8");
    if (signal !== undefined) addAbortSignal(signal, stdin);
    try {
      for await (const chunk of stdin) input += chunk;
    } catch (error) {
      if (signal?.aborted === true) return undefined;
      throw error;
    } finally {
      clearTimeout(hint);
    }
  }
  return [task, input].filter((part) => part.trim() !== "").join("\n\n");
}
