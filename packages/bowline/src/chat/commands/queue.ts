import { oneLine } from "../../terminal.ts";
import type { FullView } from "../../screen/screen.ts";
import type { Chat } from "../chat.ts";
import { missingText, momentWords } from "../waiting-text.ts";
import type { Missing, WaitingMessage } from "../waiting.ts";
import type { SlashCommand } from "./command.ts";

const USAGE =
  "/queue lists the messages that wait. /queue edit 2, /queue edit 2 new text, /queue remove 2, " +
  "/queue step 2 and /queue turn 2 (after this step, after the turn) change the one with that number.";

export const queue: SlashCommand = {
  name: "queue",
  takes: "[edit|remove|step|turn <number> [text]]",
  help: "list the messages that wait, with their numbers, or change one",
  run(args, chat) {
    if (args === "") return list(chat);
    const [, what = "", number = "", text = ""] = /^(\w+)\s+(\d+)\s*([^]*)$/.exec(args) ?? [];
    const id = Number(number);
    const isEdit = what === "edit";
    if (text !== "" && !isEdit) return refuse(chat);
    switch (what) {
      case "edit":
        return text === "" ? edit(id, chat) : replace(id, text, chat);
      case "remove":
        return told(chat, id, chat.queue.remove(id), (item) => `Removed ${lineOf(item)}`);
      case "step":
      case "turn": {
        const moved = chat.queue.move(id, what === "step" ? "steering" : "followUp");
        return told(chat, id, moved, () => placeOf(id, chat));
      }
      default:
        return refuse(chat);
    }
  },
};

function refuse(chat: Chat): void {
  chat.notice(`Nothing was changed. ${USAGE}`, "warning");
}

function list(chat: Chat): void {
  const { items, edit: edited } = chat.queue;
  const lines = items.map(
    (item) => `${lineOf(item)}${item.id === edited.id ? " (in the draft)" : ""}`,
  );
  chat.notice(lines.length === 0 ? "No message waits." : lines.join("\n"));
}

function lineOf({ id, moment, draft }: WaitingMessage): string {
  return `${id}. ${momentWords[moment]}: ${oneLine(draft.text, 400)}`;
}

function told(
  chat: Chat,
  id: number,
  item: WaitingMessage | Missing,
  done: (item: WaitingMessage) => string,
): void {
  if (typeof item === "string") chat.notice(missingText(id, item), "warning");
  else chat.notice(done(item));
}

/** The new text of a message that was taken meanwhile is not lost. */
function replace(id: number, text: string, chat: Chat): void {
  const item = chat.queue.replace(id, text);
  if (typeof item === "string" && !chat.screen.isPlain) chat.setDraft(text);
  told(chat, id, item, () => `Message ${id} is changed.`);
}

async function edit(id: number, chat: Chat): Promise<void> {
  const { queue: waiting, screen } = chat;
  if (!screen.isPlain) return waiting.edit.edit(id);
  const item = waiting.hold(id);
  if (typeof item === "string") return told(chat, id, item, lineOf);
  const typed = await screen.full(
    lineQuestion([lineOf(item), "Type its new text and Enter. Enter alone keeps it."]),
  );
  const text = typed?.trim() === "" ? undefined : typed;
  if (waiting.release(item, text))
    return chat.notice(
      text === undefined ? `Message ${id} stays as it was.` : `Message ${id} is changed.`,
    );
  if (text !== undefined) chat.setDraft(text);
  chat.notice("The run has ended. The message goes out with your next one.", "warning");
}

function placeOf(id: number, { queue: { items } }: Chat): string {
  const item = items.find((one) => one.id === id);
  return item === undefined ? "It is sent now." : `It is sent ${momentWords[item.moment]}.`;
}

function lineQuestion(lines: readonly string[]): FullView<string> {
  return {
    draw: () => ({ lines }),
    input: () => undefined,
    plain: { type: "question", lines, answer: (line) => ({ result: line }) },
  };
}
