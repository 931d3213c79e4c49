/** Tools and answers that the scenarios share. */
import type { AgentTool } from "../../agent/contract/tool.ts";
import { defineTool } from "../../agent/define-tool.ts";
import { scriptedToolCall, type ScriptedAnswer } from "../scripted-model.ts";
import type { Usage } from "../../llm/usage.ts";
import { check } from "../store/checks.ts";
import type { End, World } from "./scenario.ts";

/** An answer that calls tools by their names, which are also the ids of the calls. */
export function calls(...names: readonly string[]): ScriptedAnswer {
  return { content: names.map((name) => scriptedToolCall(name, {}, name)) };
}

/** An answer with usage. */
export function billed(answer: string | readonly string[], totalTokens: number): ScriptedAnswer {
  const usage: Usage = { input: totalTokens - 1, output: 1, totalTokens };
  const content =
    typeof answer === "string"
      ? [{ type: "text" as const, text: answer }]
      : answer.map((name) => scriptedToolCall(name, {}, name));
  return { content, usage };
}

/** A tool that takes `ms` and returns a text of its name. */
export function slow(
  { sleep }: World,
  name: string,
  ms: number,
  more: Partial<AgentTool> = {},
): AgentTool {
  const tool = defineTool({
    name,
    description: `The tool ${name}.`,
    parameters: { type: "object", properties: {} },
    replay: "safe",
    async execute(_, { signal }) {
      await sleep(ms, signal);
      signal.throwIfAborted();
      return `${name} ran`;
    },
  });
  return { ...tool, ...more };
}

/** A tool that does `work`, and then returns a text of its name. */
export function doing(
  name: string,
  work: (signal: AbortSignal) => unknown,
  more: Partial<AgentTool> = {},
): AgentTool {
  const tool = defineTool({
    name,
    description: `The tool ${name}.`,
    parameters: { type: "object", properties: {} },
    replay: "safe",
    async execute(_, { signal }) {
      await work(signal);
      return `${name} ran`;
    },
  });
  return { ...tool, ...more };
}

/** Throws unless the run ended for this reason, with this text. */
export function ended(reason: string, text?: string): (end: End) => void {
  return ({ result }) => {
    const { error } = result;
    check(
      result.reason === reason,
      `the run ended as ${result.reason}, not as ${reason}: ${error?.code} ${error?.message}`,
    );
    if (text !== undefined)
      check(result.text === text, `the text is "${result.text}", not "${text}"`);
  };
}

/** Throws unless the result of this call contains the text. */
export function resultOf({ messages }: End, id: string, text: string): void {
  const found = messages.find((one) => one.role === "toolResult" && one.toolCallId === id);
  const said = JSON.stringify(found?.content ?? "no result");
  check(said.includes(text), `the result of ${id} is ${said}, without "${text}"`);
}
