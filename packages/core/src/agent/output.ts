/**
 * A run whose result is a value of a schema. Where the server holds its answer to a schema the
 * answer's text is the value; elsewhere the model gives it by a tool that ends the run. Either way
 * it is checked, and sent back a bounded number of times.
 */
import { BowlineError } from "../errors.ts";
import { AskedOutput, OUTPUT_TOOL } from "./asked-output.ts";
import type { Effects } from "./contract/effects.ts";
import type { AgentContext, AgentLoopConfig } from "./contract/hooks.ts";
import type { RunInput } from "./run/run.ts";
import type { RunResult } from "./run/run-result.ts";

/** A run with an output: what it is made from, and what its result holds. */
export interface OutputRun {
  readonly input: RunInput;
  /**
   * Puts the value into the result; a run that ended well without one failed with `invalid_output`.
   */
  readonly finish: (result: RunResult) => Promise<RunResult>;
}

export type OutputRunFactory = (schema: unknown, input: RunInput) => OutputRun;

/**
 * Makes a run for an output. Throws `invalid_argument` for a schema that does not describe an
 * object, and for a tool of its tool's name.
 */
export function createOutputRun(schema: unknown, input: RunInput): OutputRun {
  const output = new AskedOutput(schema, input);
  if ((input.context.tools ?? []).some(({ name }) => name === OUTPUT_TOOL))
    throw new BowlineError(
      "invalid_argument",
      `An output takes the name "${OUTPUT_TOOL}": rename that tool.`,
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

/** The same context, whatever is assigned to it, with one more tool where a model needs it. */
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
    // By its events: the transcript may be assigned anew meanwhile.
    publish(event, hear) {
      if (event.type === "message_end" && event.parentRunId === config().parentRunId)
        output.look(event.message);
      return effects.publish(event, hear);
    },
    async inbox(kind) {
      const asked = await output.ask(kind === "followUp");
      return asked === undefined ? effects.inbox(kind) : [asked];
    },
  };
}
