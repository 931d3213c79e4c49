/** Asks a question on the terminal that one key answers, without Enter. */
import process from "node:process";
import { forgetTyped, type Terminal } from "./ask.ts";

export interface KeyQuestion {
  readonly terminal: Terminal & {
    readonly input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
  };
  /** Called on Ctrl-C, which also answers no. */
  readonly onInterrupt: () => void;
  readonly signal?: AbortSignal | undefined;
  /** Called after Ctrl-Z and `fg`, before the question is repeated. */
  readonly onContinue?: () => void;
  /** In milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/** A person who was typing when the question appeared must pause this long before a key counts. */
const PAUSE_MS = 400;

/**
 * Returns one of `letters`, in lower case, or the line that was pasted with its Enter. Returns ""
 * for Enter, Escape, Ctrl-C and Ctrl-D, and when the input ended or the signal fired. Prose does
 * not answer: after a key that means nothing, and if something was typed before the question,
 * nothing counts until there was a pause.
 */
export async function askKey(
  question: string,
  letters: string,
  { terminal, onInterrupt, signal, onContinue, now = () => performance.now() }: KeyQuestion,
): Promise<string> {
  const { input, output } = terminal;
  let typedAt = (await forgetTyped(input)) ? now() : -Infinity;
  if (!input.readable) return ""; // it has ended, and "end" does not fire twice
  if (signal?.aborted === true) return "";
  return new Promise((resolve) => {
    const show = (): void => {
      input.setRawMode?.(true);
      output.write(`\u001b[1G\u001b[0J${question}`); // on a row of its own, also after fg
    };
    const leave = (answer = ""): void => {
      signal?.removeEventListener("abort", end);
      input.off("data", read).off("end", end).pause();
      input.setRawMode?.(false);
      output.write(`${/^[a-z]+$/.test(answer) ? answer : ""}\n`);
      resolve(answer);
    };
    const end = (): void => leave();
    const suspend = (): void => {
      input.setRawMode?.(false);
      process.once("SIGCONT", () => {
        onContinue?.();
        show();
      });
      process.kill(process.pid, "SIGTSTP");
    };
    const read = (chunk: Buffer | string): void => {
      const text = String(chunk).toLowerCase();
      if (text.includes("\u0003")) {
        onInterrupt();
        return leave();
      }
      if (text === "\u001a") return suspend();
      const isPaused = now() - typedAt < PAUSE_MS;
      const line = text.replace(/[\r\n]+$/, "");
      const isKey = line.length === 1 && letters.includes(line);
      if (!isPaused && isKey) return leave(line);
      if (!isPaused && (line !== text || line === "\u001b" || line === "\u0004"))
        return leave(/^[\u0004\u001b]$/.test(line) ? "" : line.trim());
      typedAt = now();
    };
    signal?.addEventListener("abort", end, { once: true });
    input.on("data", read).once("end", end);
    show();
    input.resume();
  });
}
