/** A question at the terminal. */
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };
}

/**
 * One line of answer, lower-cased; "" when the input ended, the signal fired or Ctrl-C was pressed.
 * After Ctrl-Z and `fg`, `onContinue` shows what the question is about, and it is asked again.
 */
export async function ask(
  question: string,
  { input, output }: Terminal,
  onInterrupt: () => void,
  signal?: AbortSignal,
  onContinue: () => void = () => {},
): Promise<string> {
  await forgetTyped(input);
  if (!input.readable) return ""; // it ended meanwhile, which would not be told again
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
    // Readline pauses the input here, and nothing else would keep the process alive.
    prompt.on("SIGCONT", () => {
      onContinue();
      prompt.prompt(true);
    });
    prompt.question(question, (line) => {
      answer = line.trim().toLowerCase();
      prompt.close();
    });
    if (signal?.aborted === true) leave();
  });
}

/**
 * What was typed before a question was there is no answer to it. Without the raw mode, half a line
 * would stay.
 */
async function forgetTyped(
  input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown },
): Promise<void> {
  const forget = (): void => {};
  input.setRawMode?.(true);
  input.on("data", forget);
  // The first turn begins to read, and the second has what was there.
  await turn();
  await turn();
  input.off("data", forget).pause();
}
