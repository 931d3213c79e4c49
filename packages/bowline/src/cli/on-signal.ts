/**
 * Ctrl-C, and what else asks a program to stop, such as a terminal that is closed: first politely,
 * then at once.
 */
import { exitCode } from "./exit.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `stop` at the first signal; a second one leaves at once. Returns what ends that. */
export function onSignal(host: NodeJS.Process, stop: () => void): () => void {
  let isStopping = false;
  const interrupt = (): void => {
    if (isStopping) host.exit(exitCode.aborted);
    isStopping = true;
    stop();
  };
  for (const signal of signals) host.on(signal, interrupt);
  return () => {
    for (const signal of signals) host.off(signal, interrupt);
  };
}
