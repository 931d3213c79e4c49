/** What a person and a program are told of hooks. */
import { basename } from "node:path";
import type { HookEvent } from "../settings/keys.ts";
import { oneLine } from "../terminal.ts";

/** JSON-safe. `bowline run --json` prints it as a line. */
export interface HookNews {
  readonly type: "hook";
  readonly event: HookEvent;
  readonly command: string;
  /** The file that has the hook. */
  readonly path: string;
  /**
   * `failed`: it ended otherwise than with 0 or 2, was stopped, or its answer was not understood.
   * `blocked`: it refused a message or the end of a run. `message`: it has a message for the person.
   */
  readonly status: "failed" | "blocked" | "message";
  readonly message: string;
}

/** Formats it as one line. A failure is loud: most people think that exit code 1 blocks. */
export function hookLine({ event, command, path, status, message }: HookNews): string {
  const name = `${event} ${JSON.stringify(oneLine(command, 120))} (${oneLine(basename(path), 80)})`;
  const text = oneLine(message, 700);
  switch (status) {
    case "failed":
      return `HOOK FAILED: ${name}: ${text}`;
    case "blocked":
      return `hook ${name} blocked it: ${text}`;
    case "message":
      return `hook ${name}: ${text}`;
  }
}
