/** Shows the wait for a server's list of models. */
import type { Patience } from "../models/patience.ts";
import { styleFor } from "../terminal.ts";
import { onSignal } from "./on-signal.ts";
import { Retries, retryReason } from "./retries.ts";
import { StatusLine } from "./status-line.ts";
import { durationText, WaitingLine } from "./waiting-line.ts";

export interface ListPatience extends Patience {
  /** Returns true once a person has stopped the command. */
  isStopped(): boolean;
  /** Reports that the model was found, and after how many retries, if any. */
  found(): void;
  /** Ends the wait and clears its line. */
  end(): void;
}

/** Shows one updating line on a terminal; elsewhere prints a line for each new reason. */
export function createListPatience(
  retryMs: number,
  host: NodeJS.Process,
  deadline?: AbortSignal,
): ListPatience {
  const { stderr, env } = host;
  const style = styleFor(stderr, env);
  const status = new StatusLine(stderr, env);
  const waiting = new WaitingLine(status, style, { server: "", answerMs: 0, retryMs });
  const retries = new Retries();
  const stop = new AbortController();
  const release = onSignal(host, () => stop.abort());
  let asked = "";
  return {
    retryMs,
    signal: deadline === undefined ? stop.signal : AbortSignal.any([stop.signal, deadline]),
    onRetry(error, server) {
      asked = server;
      const reason = retryReason(error, server, false);
      const isNew = retries.add(reason);
      if (status.isOn) waiting.retry(reason, retries.count, retries.since);
      else if (isNew)
        stderr.write(`${style.dim(`… ${reason}. Retrying for up to ${durationText(retryMs)}.`)}\n`);
    },
    isStopped: () => stop.signal.aborted,
    found() {
      waiting.stop();
      const said = retries.end(asked);
      if (said !== undefined) stderr.write(`${style.dim(`… ${said}`)}\n`);
    },
    end() {
      release();
      waiting.stop();
    },
  };
}
