/** The hooks of a conversation, and what a message becomes by them. */
import type { UserMessage } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { Hooks } from "../hooks/hooks.ts";
import { hookLine, type HookNews } from "../hooks/news.ts";
import type { Project } from "../project/project.ts";
import { oneLine } from "../terminal.ts";
import type { NoticeLevel } from "./block.ts";
import type { Environment } from "./chat.ts";
import type { Conversation } from "./conversation.ts";
import type { ChatOptions } from "./options.ts";
import { bytesText } from "./text.ts";
import { typedText, withParts } from "./user-message.ts";

const levels: Readonly<Record<HookNews["status"], NoticeLevel>> = {
  failed: "error",
  blocked: "warning",
  message: "info",
};

export function createChatHooks(
  chat: Pick<Conversation, "notice" | "state" | "session">,
  { hooks: sources, root, directory }: Project,
  env: Environment,
  { yes }: Pick<ChatOptions, "yes">,
): Hooks {
  return new Hooks({
    sources,
    env,
    root,
    directory,
    sessionId: () => chat.session?.id ?? "",
    mode: () => (chat.state.isPlan ? "plan" : yes ? "bypassPermissions" : "default"),
    tell: (news) => chat.notice(hookLine(news), levels[news.status]),
  });
}

/**
 * Returns the message as hooks leave it: with text of theirs for the model. Rejects with
 * `CommandError` if one of them refuses it.
 */
export async function submitted(
  hooks: Hooks,
  message: UserMessage,
  signal: AbortSignal,
): Promise<UserMessage> {
  if (!hooks.has("UserPromptSubmit")) return message;
  const { block, context } = await hooks.submitted(typedText(message), signal);
  if (block !== undefined)
    throw new CommandError(
      `A hook refused the message, which was not sent: ${oneLine(block, 700)}`,
    );
  if (context === "") return message;
  const size = bytesText(Buffer.byteLength(context));
  const text = `[context from a hook]\n${context}`;
  return withParts(message, [{ type: "text", text, shownAs: `text of a hook, ${size}` }]);
}
