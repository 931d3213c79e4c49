/** Ctrl-C, and what else asks a program to stop: first politely, then at once. */
import { exitCode } from "./exit.ts";

/** Calls `stop` at the first signal; a second one leaves at once. Returns what ends that. */
export function onSignal(host: NodeJS.Process, stop: () => void): () => void {
  let isStopping = false;
  const interrupt = (): void => {
    if (isStopping) host.exit(exitCode.aborted);
    isStopping = true;
    stop();
  };
  host.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  return () => void host.off("SIGINT", interrupt).off("SIGTERM", interrupt);
}
