/**
 * A run whose result is a value of a schema. Where the server holds its answer to a schema the answer's text is the value;
 * elsewhere the model gives it by a tool that ends the run. Either way it is checked, and sent back a bounded number of times.
 */
import { BowlineError } from "../errors.ts";
import { parseJson } from "../json-value.ts";
import { messageText } from "../llm/message.ts";
import { supportsOutput } from "../llm/model.ts";
import { toJsonSchema, validate, type ValidationResult } from "../schema.ts";
import { systemClock } from "../clock.ts";
import type { AgentMessage } from "./event.ts";
import type { AgentContext } from "./hooks.ts";
import type { RunInput, RunResult } from "./run.ts";
import type { AgentTool } from "./tool.ts";

/** The tool by which a model without native support gives its answer. */
const OUTPUT_TOOL = "final_answer";
/** Answers in a row that do not fit, before the run ends with `invalid_output`. */
const MAX_ATTEMPTS = 3;

/** A run with an output: what it is made from, and what its result holds. */
export interface OutputRun {
  readonly input: RunInput;
  /** Puts the value into the result; a run that ended well without one failed with `invalid_output`. */
  readonly finish: (result: RunResult) => Promise<RunResult>;
}

export type OutputRunFactory = (schema: unknown, input: RunInput) => OutputRun;

/** Makes a run for an output. Throws `invalid_argument` for a schema that does not describe an object. */
export function createOutputRun(schema: unknown, input: RunInput): OutputRun {
  const owner = "the output";
  const json = toJsonSchema(schema, owner);
  const { messages } = input.context;
  let found: { readonly value: unknown } | undefined;
  let attempts = 0;
  /** How far the transcript was looked through. */
  let seen = messages.length;

  const tool: AgentTool = {
    name: OUTPUT_TOOL,
    description: "Gives the final answer. Call it once, when the work is done, and not before.",
    parameters: schema,
    execute: (_id, value: unknown) => {
      found = { value };
      return { content: [{ type: "text", text: "Accepted." }], terminate: true };
    },
  };
  const isNative = (): boolean => supportsOutput(input.config().model, (input.context.tools ?? []).length > 0);
  const context = Object.create(input.context, {
    tools: { get: () => [...(input.context.tools ?? []), ...(isNative() ? [] : [tool])] },
  }) as AgentContext;

  return {
    input: {
      ...input,
      context,
      config: () => ({ ...input.config(), ...(isNative() && { output: { schema: json } }) }),
      effects: {
        ...input.effects,
        inbox: async (kind) => {
          countRefusals();
          if (kind === "followUp" && found === undefined) {
            const problem = await read();
            if (problem !== undefined) return [say(failed(problem))];
          }
          return input.effects.inbox(kind);
        },
      },
    },
    finish: async (result) => {
      const problem = result.reason === "done" && found === undefined ? await read() : undefined;
      if (problem !== undefined) return { ...result, reason: "error", error: invalid(problem) };
      return found === undefined ? result : { ...result, output: found.value };
    },
  };

  /** Takes the value from the last answer. Gives what is wrong with it, in words for the model. */
  async function read(): Promise<string | undefined> {
    if (!isNative()) return `Give the answer by calling the tool ${OUTPUT_TOOL}.`;
    const last = messages.at(-1);
    const text = last?.role === "assistant" ? unfenced(messageText(last)) : "";
    const value = parseJson(text);
    // Not every wire was told of the schema: `streamOpenaiChat` is the small one.
    if (value === undefined)
      return `The answer must be JSON that fits this schema, and nothing else:\n${JSON.stringify(json)}`;
    const checked: ValidationResult = await validate(schema, value, owner);
    if (checked.issues !== undefined) {
      const lines = checked.issues.map(({ path, message }) => `  - ${path === "" ? "the answer" : path}: ${message}`);
      return `The answer does not fit the schema:\n${lines.join("\n")}\nAnswer again with JSON that fits.`;
    }
    found = { value: checked.value };
    return undefined;
  }

  /** Answers by the tool that did not fit were sent back already; they count. */
  function countRefusals(): void {
    for (; seen < messages.length; seen++) {
      const message = messages[seen];
      if (message?.role === "toolResult" && message.toolName === OUTPUT_TOOL && message.isError)
        failed("Its arguments did not fit the schema.");
    }
  }

  /** Counts an answer that does not fit; the last one ends the run. */
  function failed(problem: string): string {
    if (++attempts >= MAX_ATTEMPTS) throw invalid(problem);
    return problem;
  }

  function say(content: string): AgentMessage {
    const { clock = systemClock } = input.config();
    return { role: "user", content, timestamp: clock.now() };
  }
}

function invalid(problem: string): BowlineError {
  return new BowlineError("invalid_output", `No answer fitted the output schema. ${problem}`);
}

/** Models like to wrap JSON in a code block. */
function unfenced(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}
