/**
 * The value that a run was asked for: where it is looked for in the run's messages, how it is
 * checked, and how often the model may try.
 */
import { onAbort, systemClock } from "../clock.ts";
import { BowlineError, callHook } from "../errors.ts";
import { isRecord, parseJson } from "../json-value.ts";
import { messageText, toolCallsOf, type ToolCall } from "../llm/message.ts";
import { supportsOutput } from "../protocols.ts";
import { toJsonSchema, validate, type ValidationResult } from "../schema.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import type { AgentTool } from "./contract/tool.ts";
import { AbortGrace } from "./run/abort-grace.ts";
import { DEFAULT_HOOK_TIMEOUT_MS, type RunInput } from "./run/run.ts";
import { STEERED } from "./run/run-tool.ts";

/** The tool by which a model without native support gives its answer. */
export const OUTPUT_TOOL = "final_answer";
/** Answers that do not fit, before the run ends with `invalid_output`. */
const MAX_ATTEMPTS = 3;
const OWNER = "the output";

export class AskedOutput {
  /** As JSON Schema. */
  readonly json: ReturnType<typeof toJsonSchema>;
  readonly tool: AgentTool;
  readonly #schema: unknown;
  readonly #input: RunInput;
  #found: { readonly value: unknown } | undefined;
  #attempts = 0;
  #calls: readonly ToolCall[] = [];
  /** What the tool took, checked and as hooks left it. */
  readonly #taken = new Map<string, unknown>();
  /** What the model gave it that an earlier process took: how hooks left it is not known. */
  #given: unknown;
  /** The run's last message. */
  #last: AgentMessage | undefined;

  /** Throws `invalid_argument` for a schema that does not describe an object. */
  constructor(schema: unknown, input: RunInput) {
    this.json = toJsonSchema(schema, OWNER);
    this.#schema = schema;
    this.#input = input;
    this.tool = {
      name: OUTPUT_TOOL,
      description: "Gives the final answer. Call it once, when the work is done, and not before.",
      parameters: schema,
      replay: "safe",
      execute: (id, args) => {
        this.#taken.set(id, args);
        return { content: [{ type: "text", text: "Accepted." }], terminate: true };
      },
    };
    const { messages } = input.context;
    let from = messages.length;
    for (let turns = input.resume?.turns ?? 0; turns > 0 && from > 0;)
      if (messages[--from]?.role === "assistant") turns--;
    for (const message of messages.slice(from)) this.look(message);
  }

  /** The value, once there is one that fits. */
  get found(): { readonly value: unknown } | undefined {
    return this.#found;
  }

  /** Whether the server holds its answer to the schema, so that its text is the value. */
  get isNative(): boolean {
    const { model } = this.#input.config(); // which may be missing: the run says so
    const { tools = [] } = this.#input.context;
    return isRecord(model) && supportsOutput(model, tools.length > 0);
  }

  /** Notes a message of the run. Answers by the tool that did not fit were sent back; they count. */
  look(message: AgentMessage): void {
    this.#last = message;
    if (message.role === "assistant") this.#calls = toolCallsOf(message);
    if (message.role !== "toolResult" || message.toolName !== OUTPUT_TOOL) return;
    const { toolCallId, isError } = message;
    if (isError) this.#attempts += messageText(message) === STEERED ? 0 : 1;
    else if (this.#taken.has(toolCallId)) {
      this.#found = { value: this.#taken.get(toolCallId) };
      this.#given = undefined;
    } else this.#given = this.#calls.find(({ id }) => id === toolCallId)?.arguments;
  }

  /**
   * What to tell the model when it would stop without a value that fits; undefined when there is
   * one. Throws `invalid_output` when its tries are used up.
   */
  async ask(isFollowUp: boolean): Promise<AgentMessage | undefined> {
    // What a follow-up comes to replaces what was there, if it fits.
    const unfit = isFollowUp ? await this.#read() : undefined;
    const problem = this.#found === undefined ? unfit : undefined;
    if (problem !== undefined) this.#attempts++;
    if (this.#found === undefined && this.#attempts >= MAX_ATTEMPTS)
      throw invalid(problem ?? "Its arguments did not fit the schema.");
    if (problem === undefined) return undefined;
    const { clock = systemClock } = this.#input.config();
    return { role: "user", content: problem, timestamp: clock.now() };
  }

  /**
   * Looks for the value once more when the run is over; gives why there is none. Only a run that is
   * done, or whose earlier process took a value, has one to be read.
   */
  async readAtEnd(isDone: boolean): Promise<BowlineError | undefined> {
    const isWanted = this.#found === undefined && (isDone || this.#given !== undefined);
    return isWanted ? this.#readLate() : undefined;
  }

  /** Takes the value from the last answer. Gives what is wrong with it, in words for the model. */
  async #read(): Promise<string | undefined> {
    const text = this.#last?.role === "assistant" ? unfenced(messageText(this.#last)) : "";
    const native = this.isNative;
    const value = this.#given ?? (native ? parseJson(text) : undefined);
    if (value === undefined)
      return native
        ? // Not every wire was told of the schema: `streamOpenaiChat` is the small one.
          `The answer must be JSON that fits this schema, and nothing else:\n${JSON.stringify(this.json)}`
        : `Give the answer by calling the tool ${OUTPUT_TOOL}.`;
    const checked: ValidationResult = await validate(this.#schema, value, OWNER);
    if (checked.issues !== undefined) {
      const lines = checked.issues.map(
        ({ path, message }) => `  - ${path || "the answer"}: ${message}`,
      );
      return `The answer does not fit the schema:\n${lines.join("\n")}\nAnswer again with JSON that fits.`;
    }
    this.#found = { value: checked.value };
    return undefined;
  }

  /** Bounds a check that is not ours: it has the time of a hook, after an abort none. */
  async #readLate(): Promise<BowlineError | undefined> {
    const { signal } = this.#input;
    const { clock = systemClock, hookTimeoutMs = DEFAULT_HOOK_TIMEOUT_MS } = this.#input.config();
    const grace = new AbortGrace(clock, () => 0);
    const release = onAbort(signal, () => grace.abort());
    try {
      const problem = await callHook("Checking the output", () =>
        grace.patiently(this.#read(), hookTimeoutMs),
      );
      return problem === undefined ? undefined : invalid(problem);
    } catch (error) {
      return error as BowlineError;
    } finally {
      release();
    }
  }
}

function invalid(problem: string): BowlineError {
  return new BowlineError("invalid_output", `No answer fitted the output schema. ${problem}`);
}

/** Models like to wrap JSON in a code block. */
function unfenced(text: string): string {
  return /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}
