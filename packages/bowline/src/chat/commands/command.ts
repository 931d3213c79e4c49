/** A slash command. */
import type { Chat } from "../chat.ts";

export interface SlashCommand {
  readonly name: string;
  /** What it takes, as the help shows it. */
  readonly takes?: string;
  readonly help: string;
  /** Whether it is refused while something works. */
  readonly needsIdle?: boolean;
  /** `all` are the slash commands, for those that list them. */
  run(args: string, chat: Chat, all: readonly SlashCommand[]): Promise<void> | void;
}
