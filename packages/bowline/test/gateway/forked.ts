/** Runs a script as a child process that answers requests of its parent, one by one. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { compileCache } from "../../../../test/support/compile-cache.ts";

/** The child's functions by name. */
type Answers = Readonly<Record<string, (question: never) => unknown>>;

export interface Forked extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Calls a function of the child. Rejects when the process ends before it answers. */
  ask<T>(name: string, question?: unknown): Promise<T>;
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly question: unknown;
}

/**
 * Resolves when the script has called {@link answerParent}. The child is killed when this process
 * exits.
 */
export async function forkScript(
  script: string,
  options: unknown,
  flags: readonly string[] = [],
): Promise<Forked> {
  const child = fork(script, [JSON.stringify(options)], {
    execArgv: ["--conditions=@bowline/source", "--expose-gc", "--no-warnings", ...flags],
    env: { ...process.env, ...compileCache },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  const waiting = new Map<number, (answer: never) => void>();
  const ended = once(child, "exit").then(([code, signal]) => {
    process.off("exit", end);
    return `it ended: ${signal ?? `code ${code}`}`;
  });
  let next = 0;
  child.on("message", ({ id, answer }: { id: number; answer: never }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const failed = ended.then((why) => Promise.reject(new Error(why)));
  failed.catch(() => {});
  const answerOf = <T>(id: number): Promise<T> => {
    const answered = new Promise<T>((resolve) => waiting.set(id, resolve));
    return Promise.race([answered, failed]);
  };
  await answerOf(-1);
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  return {
    child,
    ended,
    kill,
    ask(name, question) {
      const id = next++;
      const answered = answerOf<never>(id);
      child.send({ id, name, question } satisfies Question, () => {}); // `ended` reports failures
      return answered;
    },
    [Symbol.asyncDispose]: () => kill(),
  };
}

/** Called by the child when it is ready. The child exits with its parent. */
export function answerParent(answers: Answers): void {
  process.on("message", ({ id, name, question }: Question) => {
    void (async () =>
      process.send?.({ id, answer: (await answers[name]?.(question as never)) ?? null }))();
  });
  process.on("disconnect", () => process.exit(1));
  process.send?.({ id: -1, answer: null });
}
