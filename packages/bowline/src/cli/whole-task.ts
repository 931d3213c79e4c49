/** The task of `bowline run`, of which standard input may hold a part. */
import { addAbortSignal } from "node:stream";

const HINT_AFTER_MS = 1000;

/**
 * The task from the command line, and whatever comes on standard input when that is no terminal;
 * empty if there is none. Undefined when standard input has not ended when `signal` fires.
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
          "bowline: Waiting for the end of standard input, which is added to the task. With < /dev/null there is none.\n",
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
