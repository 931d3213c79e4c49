/** Asks a question on the terminal. */
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };
}

/**
 * Returns one line of answer. Returns "" when the input ended, the signal fired or
 * Ctrl-C was pressed. After Ctrl-Z and `fg`, `onContinue` shows the subject again and the question
 * is repeated.
 */
export async function ask(
  question: string,
  { input, output }: Terminal,
  onInterrupt: () => void,
  signal?: AbortSignal,
  onContinue: () => void = () => {},
): Promise<string> {
  await forgetTyped(input);
  if (!input.readable) return ""; // it has ended, and "end" does not fire twice
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
    // Readline pauses the input on SIGCONT, and then nothing else keeps the process alive.
    prompt.on("SIGCONT", () => {
      onContinue();
      prompt.prompt(true);
    });
    prompt.question(question, (line) => {
      answer = line.trim();
      prompt.close();
    });
    if (signal?.aborted === true) leave();
  });
}

/**
 * Discards what was typed before the question appeared, and returns whether it was any. Raw mode is needed to discard an unfinished
 * line.
 */
export async function forgetTyped(
  input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown },
): Promise<boolean> {
  let isTyped = false;
  const forget = (): void => void (isTyped = true);
  input.setRawMode?.(true);
  input.on("data", forget);
  // The first turn starts reading; the second receives the input that was waiting.
  await turn();
  await turn();
  input.off("data", forget).pause();
  return isTyped;
}
