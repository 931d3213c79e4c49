/**
 * Runs whose result is a value of a schema. If the server enforces schemas, the text of the answer
 * is the value. Otherwise the model gives the value with a tool that ends the run. The value is
 * validated in both cases, and the model may correct it a limited number of times.
 */
import { BowlineError } from "../errors.ts";
import { AskedOutput, OUTPUT_TOOL } from "./asked-output.ts";
import type { Effects } from "./contract/effects.ts";
import type { AgentContext, AgentLoopConfig } from "./contract/hooks.ts";
import type { RunInput } from "./run/run.ts";
import type { RunResult } from "./run/run-result.ts";

/** A run with an output: its changed input, and a step that completes its result. */
export interface OutputRun {
  readonly input: RunInput;
  /**
   * Adds the value to the result. A run that is done without a value fails with `invalid_output`.
   */
  readonly finish: (result: RunResult) => Promise<RunResult>;
}

export type OutputRunFactory = (schema: unknown, input: RunInput) => OutputRun;

/**
 * Creates a run for an output. Throws `invalid_argument` for a schema that does not describe an
 * object, and when a tool already has the name of the output tool.
 */
export function createOutputRun(schema: unknown, input: RunInput): OutputRun {
  const output = new AskedOutput(schema, input);
  if ((input.context.tools ?? []).some(({ name }) => name === OUTPUT_TOOL))
    throw new BowlineError(
      "invalid_argument",
      `A run with "output" adds a tool named "${OUTPUT_TOOL}". Rename your tool of that name.`,
    );
  return {
    input: {
      ...input,
      context: withTool(input.context, output),
      config: () => withOutput(input.config(), output),
      effects: watched(input, output),
    },
    finish: async (result) => {
      const isDone = result.reason === "done";
      const error = await output.readAtEnd(isDone);
      if (error !== undefined && isDone)
        return { ...result, reason: error.code === "aborted" ? "aborted" : "error", error };
      return output.found === undefined ? result : { ...result, output: output.found.value };
    },
  };
}

/**
 * Returns a view of the context that follows later assignments and adds the output tool if the
 * model needs it.
 */
function withTool(context: AgentContext, output: AskedOutput): AgentContext {
  return Object.create(context, {
    tools: {
      get: () => [...(context.tools ?? []), ...(output.isNative ? [] : [output.tool])],
    },
  }) as AgentContext;
}

function withOutput(config: AgentLoopConfig, output: AskedOutput): AgentLoopConfig {
  const { beforeToolCall } = config;
  const before: typeof beforeToolCall = (about, signal) =>
    beforeToolCall?.(
      about.toolCall.name === OUTPUT_TOOL ? { ...about, isOutput: true } : about,
      signal,
    );
  return {
    ...config,
    ...(beforeToolCall && { beforeToolCall: before }),
    ...(output.isNative && { output: { schema: output.json } }),
  };
}

function watched({ effects, config }: RunInput, output: AskedOutput): Effects {
  return {
    ...effects,
    // Follow the events, because the transcript may be replaced during the run.
    publish(event, hear) {
      if (event.type === "message_end" && event.parentRunId === config().parentRunId)
        output.look(event.message);
      return effects.publish(event, hear);
    },
    async inbox(kind, turn) {
      const asked = await output.ask(kind, turn, effects);
      return asked === undefined ? effects.inbox(kind, turn) : [asked];
    },
  };
}
