/**
 * A run whose result is a value of a schema. Where the server holds its answer to a schema the
 * answer's text is the value; elsewhere the model gives it by a tool that ends the run. Either way
 * it is checked, and sent back a bounded number of times.
 */
import { onAbort, systemClock } from "../clock.ts";
import { BowlineError, callHook } from "../errors.ts";
import { isRecord, parseJson } from "../json-value.ts";
import { messageText, toolCallsOf, type ToolCall } from "../llm/message.ts";
import { supportsOutput } from "../protocols.ts";
import { toJsonSchema, validate, type ValidationResult } from "../schema.ts";
import { abortedRun } from "./contract/aborted-run.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import type { AgentContext } from "./contract/hooks.ts";
import type { AgentTool } from "./contract/tool.ts";
import { DEFAULT_HOOK_TIMEOUT_MS, type RunInput } from "./run/run.ts";
import type { RunResult } from "./run/run-result.ts";

/** The tool by which a model without native support gives its answer. */
const OUTPUT_TOOL = "final_answer";
/** Answers that do not fit, before the run ends with `invalid_output`. */
const MAX_ATTEMPTS = 3;

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
  const owner = "the output";
  const json = toJsonSchema(schema, owner);
  const { messages, tools: own = [] } = input.context;
  if (own.some(({ name }) => name === OUTPUT_TOOL))
    throw new BowlineError(
      "invalid_argument",
      `An output takes the name "${OUTPUT_TOOL}": rename that tool.`,
    );
  let found: { readonly value: unknown } | undefined;
  let attempts = 0;
  let calls: readonly ToolCall[] = [];
  /** What the tool took, checked and as hooks left it. */
  const taken = new Map<string, unknown>();
  /** What the model gave it that an earlier process took: how hooks left it is not known. */
  let given: unknown;
  /** The run's last message. */
  let last: AgentMessage | undefined;
  let from = messages.length;
  for (let turns = input.resume?.turns ?? 0; turns > 0 && from > 0;)
    if (messages[--from]?.role === "assistant") turns--;
  for (const message of messages.slice(from)) look(message);

  const tool: AgentTool = {
    name: OUTPUT_TOOL,
    description: "Gives the final answer. Call it once, when the work is done, and not before.",
    parameters: schema,
    replay: "safe",
    execute(id, args) {
      taken.set(id, args);
      return { content: [{ type: "text", text: "Accepted." }], terminate: true };
    },
  };
  const tools = (): readonly AgentTool[] => input.context.tools ?? [];
  const isNative = (): boolean => {
    const { model } = input.config(); // which may be missing: the run says so
    return isRecord(model) && supportsOutput(model, tools().length > 0);
  };
  const context = Object.create(input.context, {
    tools: { get: () => [...tools(), ...(isNative() ? [] : [tool])] },
  }) as AgentContext;

  return {
    input: {
      ...input,
      context,
      config: () => {
        const config = input.config();
        const { beforeToolCall } = config;
        const before: typeof beforeToolCall = (about, signal) =>
          beforeToolCall?.(
            about.toolCall.name === OUTPUT_TOOL ? { ...about, isOutput: true } : about,
            signal,
          );
        return {
          ...config,
          ...(beforeToolCall && { beforeToolCall: before }),
          ...(isNative() && { output: { schema: json } }),
        };
      },
      effects: {
        ...input.effects,
        // By its events: the transcript may be assigned anew meanwhile.
        publish(event, hear) {
          if (event.type === "message_end" && event.parentRunId === input.config().parentRunId)
            look(event.message);
          return input.effects.publish(event, hear);
        },
        inbox: async (kind) => {
          // What a follow-up comes to replaces what was there, if it fits.
          const unfit = kind === "followUp" ? await read() : undefined;
          const problem = found === undefined ? unfit : undefined;
          if (problem !== undefined) attempts++;
          if (found === undefined && attempts >= MAX_ATTEMPTS)
            throw invalid(problem ?? "Its arguments did not fit the schema.");
          if (problem !== undefined)
            return [
              {
                role: "user",
                content: problem,
                timestamp: (input.config().clock ?? systemClock).now(),
              },
            ];
          return input.effects.inbox(kind);
        },
      },
    },
    finish: async (result) => {
      const isDone = result.reason === "done";
      const error =
        found === undefined && (isDone || given !== undefined) ? await readLate() : undefined;
      if (error !== undefined && isDone)
        return { ...result, reason: error.code === "aborted" ? "aborted" : "error", error };
      return found === undefined ? result : { ...result, output: found.value };
    },
  };

  /** Takes the value from the last answer. Gives what is wrong with it, in words for the model. */
  async function read(): Promise<string | undefined> {
    const text = last?.role === "assistant" ? unfenced(messageText(last)) : "";
    const native = isNative();
    const value = given ?? (native ? parseJson(text) : undefined);
    if (value === undefined)
      return native
        ? // Not every wire was told of the schema: `streamOpenaiChat` is the small one.
          `The answer must be JSON that fits this schema, and nothing else:\n${JSON.stringify(json)}`
        : `Give the answer by calling the tool ${OUTPUT_TOOL}.`;
    const checked: ValidationResult = await validate(schema, value, owner);
    if (checked.issues !== undefined) {
      const lines = checked.issues.map(
        ({ path, message }) => `  - ${path || "the answer"}: ${message}`,
      );
      return `The answer does not fit the schema:\n${lines.join("\n")}\nAnswer again with JSON that fits.`;
    }
    found = { value: checked.value };
    return undefined;
  }

  /**
   * The run is over, and nobody else is patient with a check that is not ours: it has the time of a
   * hook, after an abort none.
   */
  async function readLate(): Promise<BowlineError | undefined> {
    const { clock = systemClock, hookTimeoutMs: limit = DEFAULT_HOOK_TIMEOUT_MS } = input.config();
    const releases: (() => void)[] = [];
    const late = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new Error(`took longer than ${limit} ms`));
      if (limit > 0) releases.push(clock.setTimer(limit, fail));
      const leave = (): void => reject(abortedRun());
      releases.push(onAbort(input.signal, () => releases.push(clock.setTimer(0, leave))));
    });
    try {
      const problem = await callHook("Checking the output", () => Promise.race([read(), late]));
      return problem === undefined ? undefined : invalid(problem);
    } catch (error) {
      return error as BowlineError;
    } finally {
      for (const release of releases) release();
    }
  }

  /** Answers by the tool that did not fit were sent back already; they count. */
  function look(message: AgentMessage): void {
    last = message;
    if (message.role === "assistant") calls = toolCallsOf(message);
    if (message.role !== "toolResult" || message.toolName !== OUTPUT_TOOL) return;
    const { toolCallId, isError } = message;
    if (isError) attempts++;
    else if (taken.has(toolCallId)) {
      found = { value: taken.get(toolCallId) };
      given = undefined;
    } else given = calls.find(({ id }) => id === toolCallId)?.arguments;
  }
}

function invalid(problem: string): BowlineError {
  return new BowlineError("invalid_output", `No answer fitted the output schema. ${problem}`);
}

/** Models like to wrap JSON in a code block. */
function unfenced(text: string): string {
  return /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}
