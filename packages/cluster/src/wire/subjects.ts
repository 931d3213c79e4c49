/** The subjects of the bus. A session's key may have any characters, so its hash is the subject. */
import { createHash } from "node:crypto";
import { BowlineError } from "@bowline/core";

export class Subjects {
  readonly #prefix: string;

  /** Throws `invalid_argument` for a prefix that is no subject. */
  constructor(prefix: string) {
    if (!/^[\w-]+(?:\.[\w-]+)*$/.test(prefix))
      throw new BowlineError(
        "invalid_argument",
        `A prefix of subjects has letters, digits, "-" and "_" with dots between, unlike ${JSON.stringify(prefix)}.`,
      );
    this.#prefix = prefix;
  }

  /** The events of a session's runs. */
  run(sessionKey: string): string {
    return `${this.#prefix}.run.${hashOf(sessionKey)}`;
  }

  /** Questions to the workers that know the session's runs. */
  ask(sessionKey: string): string {
    return `${this.#prefix}.ask.${hashOf(sessionKey)}`;
  }

  /** What changed in sessions, and messages that wait, for every gateway. */
  get news(): string {
    return `${this.#prefix}.news`;
  }

  /** Approvals of all sessions, for every gateway. */
  get approvals(): string {
    return `${this.#prefix}.approvals`;
  }
}

function hashOf(sessionKey: string): string {
  return createHash("sha256").update(sessionKey).digest("base64url");
}
