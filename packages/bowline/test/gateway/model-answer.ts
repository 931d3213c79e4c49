import type { Context } from "@bowline/core";
import { scriptedToolCall, type ScriptedAnswer } from "@bowline/core/testing";

/** The scripted model's answer, as the last message requests it. */
export function answerTo(context: Context, text: string): ScriptedAnswer {
  if (text.includes("tool"))
    return {
      content: [
        scriptedToolCall("bash", { command: `note ${text.split(" ")[0]}` }, `call ${text}`),
      ],
    };
  if (text.includes("fail"))
    return { content: [{ type: "text", text: "I cannot " }], stopReason: "error" };
  return `You said ${text}, the ${context.messages.length}th. ${"word ".repeat(text.includes("slow") ? 20 : 4)}`;
}
