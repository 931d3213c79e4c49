/** The output of a run while it arrives. */
import type { AgentEvent } from "../agent/contract/event.ts";
import type { RunResult } from "../agent/run/run-result.ts";
import type { AgentStream } from "../agent/stream/agent-stream.ts";
import { BowlineError, toErrorInfo } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { checkJson } from "../json-schema.ts";
import { defined, type JsonSchema } from "../json-value.ts";
import { isStandardSchema, toJsonSchema, validate } from "../schema.ts";
import { AnyOutput, WRAPPER } from "./any-output.ts";
import type { InferInput, ItemOf, ValueAt } from "./deep-partial.ts";
import type { PartialPath } from "./increment.ts";
import { OutputReader, type OutputReaderOptions } from "./output-reader.ts";
import type { PartialOutputEvent } from "./partial-event.ts";
import { SchemaPosition } from "./schema-position.ts";

export interface PartialOutputOptions<TSchema = unknown> {
  /**
   * The schema that the run was given as `output`. Default: that of the {@link AgentStream}. Without
   * it, values of an enum appear letter by letter, and the events of a plain iterable end without
   * an output.
   */
  readonly output?: TSchema | undefined;
}

export interface ElementsOptions<TItems = unknown> {
  /** The schema of an item. Items that do not fit are left out. Default: items are not checked. */
  readonly items?: TItems | undefined;
}

/** A finished item of an array. */
export interface PartialElement<T = unknown> {
  readonly index: number;
  readonly value: T;
  /** Counts from 1. A greater number than before: discard all items, the array begins again. */
  readonly attempt: number;
}

/** A run whose events end with its result. */
type Source = AsyncIterable<AgentEvent> & {
  readonly output?: unknown;
  readonly result?: () => Promise<RunResult>;
};

/** The output of a run while it arrives: an iterable of events. */
export class PartialOutput<TInput = unknown, TOutput = TInput> implements AsyncIterable<
  PartialOutputEvent<TInput, TOutput>
> {
  readonly #run: Source;
  readonly #schema: unknown;

  constructor(run: Source, schema: unknown) {
    this.#run = run;
    this.#schema = schema ?? run.output;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<
    PartialOutputEvent<TInput, TOutput>,
    void,
    undefined
  > {
    const reader = new OutputReader(readerOptions(this.#schema));
    let end: Extract<AgentEvent, { type: "agent_end" }> | undefined;
    let runId: string | undefined;
    for await (const event of this.#run) {
      runId ??= event.runId;
      yield* reader.read(event) as PartialOutputEvent<TInput, TOutput>[];
      if (event.type === "agent_end" && event.runId === runId) end = event;
    }
    const result = await this.#run.result?.();
    if (result !== undefined) {
      const { reason, output, error } = result;
      yield {
        type: "partial_end",
        reason,
        ...(output !== undefined && { output: output as TOutput }),
        ...(error && { error: toErrorInfo(error) }),
      };
    } else if (end !== undefined) {
      const { reason, error } = end;
      const output = reason === "done" ? await this.#validated(reader.value) : undefined;
      yield { type: "partial_end", reason, ...defined({ output, error }) } as PartialOutputEvent<
        TInput,
        TOutput
      >;
    }
  }

  /**
   * Yields the finished items of the array at `path`. Default path: the whole output. A number is
   * finished when the comma after it has arrived.
   */
  elements<const TItems>(
    path: PartialPath,
    options: ElementsOptions<TItems> & { readonly items: TItems },
  ): AsyncGenerator<PartialElement<InferSchema<TItems>>, void, undefined>;
  elements<const TPath extends PartialPath = readonly []>(
    path?: TPath,
  ): AsyncGenerator<PartialElement<ItemOf<ValueAt<TInput, TPath>>>, void, undefined>;
  async *elements(
    path: PartialPath = [],
    { items }: ElementsOptions = {},
  ): AsyncGenerator<PartialElement, void, undefined> {
    let found: { readonly index: number; readonly value: unknown }[] = [];
    let attempt = 1;
    let next = 0;
    const reader = new OutputReader({
      ...readerOptions(this.#schema),
      onItem: (array, index, value) => {
        if (array.length === path.length && path.every((key, at) => array[at] === key))
          found.push({ index, value });
      },
    });
    for await (const event of this.#run) {
      found = [];
      const isReset = reader.read(event).some(({ type }) => type === "partial_reset");
      if (isReset) {
        attempt++;
        next = 0;
      }
      for (const { index, value } of found) {
        // The model wrote the array again, under the same name: the last one counts.
        if (index < next) attempt++;
        next = index + 1;
        const checked = items === undefined ? { value } : await checkItem(items, value);
        if (checked.issues === undefined) yield { index, value: checked.value, attempt };
      }
    }
    await this.#run.result?.();
  }

  async #validated(value: unknown): Promise<unknown> {
    const schema = this.#schema;
    if (schema === undefined || value === undefined) return undefined;
    const whole = schema instanceof AnyOutput ? { [WRAPPER]: value } : value;
    const checked = await validate(schema, whole, "the output");
    return checked.issues === undefined ? checked.value : undefined;
  }
}

/**
 * Follows the output of a run while the model writes it. Takes an {@link AgentStream}, or any
 * iterable of its events, and may be iterated as often as that. A `partial_output` event carries one
 * step: text that is appended to a string, or a value that is complete. A `partial_reset` event
 * withdraws the value. The last event carries the validated `output`. Rejects when the events do.
 * Throws `invalid_argument` for an invalid schema.
 */
export function partialOutput<const TSchema>(
  run: AsyncIterable<AgentEvent>,
  options: PartialOutputOptions<TSchema> & { readonly output: TSchema },
): PartialOutput<InferInnerInput<TSchema>, InferSchema<TSchema>>;
export function partialOutput<TOutput>(run: AgentStream<TOutput>): PartialOutput<TOutput>;
export function partialOutput(run: AsyncIterable<AgentEvent>): PartialOutput;
export function partialOutput(
  run: AsyncIterable<AgentEvent>,
  { output }: PartialOutputOptions = {},
): PartialOutput {
  if (typeof (run as Partial<AsyncIterable<AgentEvent>>)[Symbol.asyncIterator] !== "function")
    throw new BowlineError(
      "invalid_argument",
      "partialOutput takes a run that can be iterated, such as agent.stream(prompt, { output }).",
    );
  if (output !== undefined) toJsonSchema(output, "the output");
  return new PartialOutput(run, output);
}

/** The type of the value inside of {@link anyOutput}, and of the object of other schemas. */
type InferInnerInput<TSchema> =
  TSchema extends AnyOutput<infer TInput, unknown> ? TInput : InferInput<TSchema>;

function readerOptions(schema: unknown): OutputReaderOptions {
  if (schema === undefined) return {};
  return {
    position: new SchemaPosition(toJsonSchema(schema, "the output")),
    ...(schema instanceof AnyOutput && { wrapper: WRAPPER }),
  };
}

async function checkItem(
  items: unknown,
  value: unknown,
): Promise<{ readonly value?: unknown; readonly issues?: unknown }> {
  return isStandardSchema(items)
    ? validate(items, value, "the items")
    : checkJson(items as JsonSchema, value);
}
