/** Reads what a request asks for: the task, how far it is, and what the model is told. */
import { nameIn, sessionIn, taskIn, type Task } from "../task.ts";
import { numberIn, type SeenAnswer } from "./ledger.ts";

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
}

export interface Asked {
  readonly task: Task;
  /** The number of answers to the task so far. */
  readonly turn: number;
  /** The names of the messages since the last answer. */
  readonly heard: readonly string[];
  readonly seenAnswers: readonly SeenAnswer[];
  readonly seenResults: ReadonlyMap<string, string>;
}

/** For messages that no task precedes. It has no tools. */
function noTask(name: string | undefined): Task {
  const session = name === undefined ? "none" : sessionIn(name);
  return { name: `${session}-none`, turns: [], words: 3, isUncounted: false };
}

/** How much of a tool's result is remembered, in characters. */
export const SEEN_LENGTH = 300;

export function readRequest(messages: readonly ChatMessage[]): Asked {
  const texts = messages.map(({ content }) => contentText(content));
  const isUser = (index: number): boolean => messages[index]?.role === "user";
  const begin = texts.findLastIndex((text, index) => isUser(index) && taskIn(text) !== undefined);
  const answers = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []));
  const heard = texts.flatMap((text, index) =>
    isUser(index) && index > (answers.at(-1) ?? -1) ? (nameIn(text) ?? []) : [],
  );
  const task = taskIn(texts[begin] ?? "") ?? noTask(heard[0]);
  return {
    task,
    turn: answers.filter((index) => index > begin).length,
    heard,
    seenAnswers: answers.flatMap((index) => {
      const text = texts[index] ?? "";
      const number = numberIn(text);
      return number === undefined ? [] : [{ number, text }];
    }),
    seenResults: new Map(
      messages.flatMap(({ role, tool_call_id: id }, index) =>
        role === "tool" && id !== undefined
          ? [[id, (texts[index] ?? "").slice(0, SEEN_LENGTH)] as const]
          : [],
      ),
    ),
  };
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = (content ?? []) as readonly { readonly text?: string }[];
  return parts.map(({ text = "" }) => text).join("");
}
