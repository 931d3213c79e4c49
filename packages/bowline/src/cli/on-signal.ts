/**
 * Handles Ctrl-C and other requests to stop, such as a closed terminal. The first stops gracefully,
 * the second at once.
 */
import { exitCode } from "./exit.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls `stop` at the first signal and exits at the second. Returns a function that removes the
 * handlers.
 */
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
