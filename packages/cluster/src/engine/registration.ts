/** Tells Restate's admin interface where a worker is. */
import { BowlineError, type Clock } from "@bowline/core";

const REQUEST_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

export interface RegistrationOptions {
  /** The address of the admin interface. */
  readonly admin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How Restate reaches the worker. */
  readonly url: string;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #stopping = new AbortController();
  isDone = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** Registers the worker. Tries again until it is done, or until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { clock, report } = this.#options;
    const { signal } = this.#stopping;
    for (let ms = FIRST_PAUSE_MS; !signal.aborted; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
      try {
        await this.#register(signal);
        this.isDone = true;
        return;
      } catch (error) {
        if (signal.aborted) return;
        report(error);
      }
      await new Promise<void>((resolve) => {
        const stop = clock.setTimer(ms, resolve);
        signal.addEventListener("abort", () => (stop(), resolve()), { once: true });
      });
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Does not replace a deployment that is there: its runs continue with the code that began them. */
  async #register(signal: AbortSignal): Promise<void> {
    const { admin, headers, url } = this.#options;
    let response: Response;
    try {
      response = await fetch(`${admin.replace(/\/$/, "")}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json", ...headers },
        body: JSON.stringify({ uri: url, force: false }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      });
    } catch (cause) {
      throw failed("Restate's admin interface could not be reached.", cause);
    }
    const text = await response.text();
    if (!response.ok) throw failed(`Restate answered ${response.status}: ${text.slice(0, 500)}`);
  }
}

function failed(why: string, cause?: unknown): BowlineError {
  const message = `The worker is not registered yet. ${why}`;
  return new BowlineError("connection_failed", message, { retryable: true, cause });
}
