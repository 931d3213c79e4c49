/**
 * The output value of a run: finds it in the run's messages, validates it, and limits the model's
 * attempts.
 */
import { onAbort, systemClock } from "../clock.ts";
import { BowlineError, callHook } from "../errors.ts";
import { isJson, isRecord, parseJson } from "../json-value.ts";
import { messageText, toolCallsOf, type ToolCall } from "../llm/message.ts";
import { supportsOutput } from "../protocols.ts";
import { isStandardSchema, toJsonSchema, validate, type ValidationResult } from "../schema.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import type { Effects, InboxKind } from "./contract/effects.ts";
import type { AgentTool } from "./contract/tool.ts";
import { AbortGrace } from "./run/abort-grace.ts";
import { decided } from "./run/decided.ts";
import { DEFAULT_HOOK_TIMEOUT_MS, type RunInput } from "./run/run.ts";
import { STEERED } from "./run/run-tool.ts";

type Check = () => Promise<ValidationResult>;
/** Runs a check of a value. */
type By = (check: Check) => Promise<ValidationResult>;

/** The tool with which a model without native support gives its answer. */
export const OUTPUT_TOOL = "final_answer";
/** Number of unfit answers after which the run ends with `invalid_output`. */
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
  /** Values that the tool accepted, by call id: validated, after the hooks. */
  readonly #taken = new Map<string, unknown>();
  /**
   * A value that an earlier process accepted, as the model wrote it. What hooks made of it is
   * unknown.
   */
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

  /** The value, once a fitting one was found. */
  get found(): { readonly value: unknown } | undefined {
    return this.#found;
  }

  /** Whether the server enforces the schema, so that the text of the answer is the value. */
  get isNative(): boolean {
    const { model } = this.#input.config(); // the model may be missing; the run reports that
    const { tools = [] } = this.#input.context;
    return isRecord(model) && supportsOutput(model, tools.length > 0);
  }

  /** Processes a message of the run. A failed call of the output tool counts as an attempt. */
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
   * Returns the correction to send when the model would stop without a fitting value, otherwise
   * undefined. Throws `invalid_output` when the attempts are used up.
   */
  async ask(kind: InboxKind, turn: number, effects: Effects): Promise<AgentMessage | undefined> {
    // The answer to a follow-up replaces the earlier value if it fits.
    const unfit =
      kind === "followUp"
        ? await this.#readOutput((check) => this.#checked(effects, `output:${kind}:${turn}`, check))
        : undefined;
    const problem = this.#found === undefined ? unfit : undefined;
    if (problem !== undefined) this.#attempts++;
    if (this.#found === undefined && this.#attempts >= MAX_ATTEMPTS)
      throw invalid(problem ?? "Its arguments did not fit the schema.");
    if (problem === undefined) return undefined;
    const { clock = systemClock } = this.#input.config();
    const timestamp = effects.now?.() ?? clock.now();
    return { role: "user", content: problem, timestamp };
  }

  /**
   * Looks for the value once more after the run has ended. Returns the error if there is none. Only
   * reads it if the run is done, or if an earlier process accepted a value.
   */
  async readAtEnd(isDone: boolean): Promise<BowlineError | undefined> {
    const isWanted = this.#found === undefined && (isDone || this.#given !== undefined);
    return isWanted ? this.#readLate() : undefined;
  }

  /** Reads the value from the last answer. Returns the problem with it, as text for the model. */
  async #readOutput(by: By = async (check) => check()): Promise<string | undefined> {
    const text = this.#last?.role === "assistant" ? unfenced(messageText(this.#last)) : "";
    const native = this.isNative;
    const value = this.#given ?? (native ? parseJson(text) : undefined);
    if (value === undefined)
      return native
        ? // Repeat the schema, because some stream functions (`streamOpenaiChat`) do not send it.
          `The answer must be JSON that fits this schema, and nothing else:\n${JSON.stringify(this.json)}`
        : `Give the answer by calling the tool ${OUTPUT_TOOL}.`;
    const checked = await by(async () => validate(this.#schema, value, OWNER));
    if (checked.issues !== undefined) {
      const lines = checked.issues.map(
        ({ path, message }) => `  - ${path || "the answer"}: ${message}`,
      );
      return `The answer does not fit the schema:\n${lines.join("\n")}\nAnswer again with JSON that fits.`;
    }
    this.#found = { value: checked.value };
    return undefined;
  }

  /**
   * Validates through the effects, because the schema library's check is user code that decides
   * whether the run ends. A value that JSON cannot represent is validated again on replay.
   */
  async #checked(effects: Effects, name: string, check: Check): Promise<ValidationResult> {
    if (!isStandardSchema(this.#schema)) return check();
    let own: ValidationResult | undefined;
    const verdict = await decided<Partial<ValidationResult>>(effects, name, async () => {
      own = await check();
      return own.issues === undefined && !isJson(own.value) ? {} : own;
    });
    if (own !== undefined) return own;
    return verdict.issues === undefined && !("value" in verdict)
      ? check()
      : (verdict as ValidationResult);
  }

  /**
   * Reads the value with a time limit, because the schema library's check is user code. The limit
   * is that of a hook, and zero after an abort.
   */
  async #readLate(): Promise<BowlineError | undefined> {
    const { signal } = this.#input;
    const { clock = systemClock, hookTimeoutMs = DEFAULT_HOOK_TIMEOUT_MS } = this.#input.config();
    const grace = new AbortGrace(clock, () => 0);
    const release = onAbort(signal, () => grace.abort());
    try {
      const problem = await callHook("Checking the output", () =>
        grace.patiently(this.#readOutput(), hookTimeoutMs),
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

/** Removes the code block in which models often wrap JSON. */
function unfenced(text: string): string {
  return /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}
