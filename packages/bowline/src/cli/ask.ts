/** A question at the terminal. */
import { createInterface } from "node:readline";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** One line of answer, lower-cased; "" when the input ended, the signal fired or Ctrl-C was pressed. */
export function ask(
  question: string,
  { input, output }: Terminal,
  onInterrupt: () => void,
  signal?: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    const prompt = createInterface({ input, output, terminal: true });
    let answer = "";
    const leave = (): void => prompt.close();
    signal?.addEventListener("abort", leave, { once: true });
    prompt.once("close", () => {
      signal?.removeEventListener("abort", leave);
      resolve(answer);
    });
    prompt.once("SIGINT", () => {
      output.write("\n");
      onInterrupt();
      leave();
    });
    prompt.question(question, (line) => {
      answer = line.trim().toLowerCase();
      prompt.close();
    });
    if (signal?.aborted === true) leave();
  });
}
