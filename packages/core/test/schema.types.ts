/** The arguments of a tool are typed by its schema. Only the compiler reads this file. */
import { type } from "arktype";
import { Type, type TSchema } from "typebox";
import * as v from "valibot";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as zodV3 } from "zod/v3";
import { Agent, type AgentTool, defineTool, type ToolRun } from "../src/agent/index.ts";
import type { InferSchema } from "../src/infer-schema.ts";
import { toJsonSchema, type StandardSchema, type withJsonSchema } from "../src/schema.ts";

/** Accepts `true` only if both types are the same, after intersections are expanded. */
// oxlint-disable typescript/no-unnecessary-type-parameters -- the parameter makes the comparison exact
type Same<A, B> =
  (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;
// oxlint-enable typescript/no-unnecessary-type-parameters
type Plain<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

const base = { name: "a", description: "" };

// TypeBox
const typebox = Type.Object({
  path: Type.String(),
  limit: Type.Optional(Type.Integer()),
  mode: Type.Union([Type.Literal("a"), Type.Literal(1), Type.Null()]),
  tags: Type.Array(Type.Object({ on: Type.Boolean() })),
  kind: Type.Enum(["x", "y"]),
  point: Type.Tuple([Type.Number(), Type.String()]),
  byName: Type.Record(Type.String(), Type.Number()),
  both: Type.Intersect([
    Type.Object({ a: Type.String() }),
    Type.Object({ b: Type.Optional(Type.Number()) }),
  ]),
});
interface FromTypebox {
  path: string;
  limit?: number;
  mode: "a" | 1 | null;
  tags: { on: boolean }[];
  kind: "x" | "y";
  point: [number, string];
  byName: Record<string, number>;
  both: { a: string; b?: number };
}
void (true satisfies Same<InferSchema<typeof typebox>, FromTypebox>);
export const fromTypebox = defineTool({
  ...base,
  parameters: typebox,
  execute: ({ path, limit, tags }) => {
    // @ts-expect-error a text is no number
    path.toFixed();
    // @ts-expect-error it may be absent
    limit.toFixed();
    return path + String(limit ?? 0) + String(tags[0]?.on);
  },
});

// JSON Schema, as an inline literal and as a constant
export const fromLiteral = defineTool({
  ...base,
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: ["integer", "null"] },
      unit: { enum: ["C", "F"] },
      where: {
        type: "array",
        items: { type: "object", properties: { at: { const: 1 } }, required: ["at"] },
      },
    },
    required: ["city", "unit", "where"],
  },
  execute: (args) => {
    void (true satisfies Same<
      typeof args,
      { city: string; days?: number | null; unit: "C" | "F"; where: { at: 1 }[] }
    >);
    // @ts-expect-error no such property
    return String(args.town);
  },
});
const constant = {
  type: "object",
  properties: {
    any: true,
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    all: { allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }] },
    byName: { type: "object", additionalProperties: { type: "boolean" } },
    free: { type: "object" },
    pair: { type: "array", prefixItems: [{ type: "string" }] },
  },
  required: ["either", "all", "byName", "free", "pair"],
} as const;
void (true satisfies Same<
  Omit<InferSchema<typeof constant>, "any">,
  {
    either: string | number;
    all: { a: string };
    byName: Record<string, boolean>;
    free: Record<string, unknown>;
    pair: unknown[];
  }
>);

// Standard Schemas: the type of their output
export const fromZod = defineTool({
  ...base,
  parameters: z.object({
    n: z.number(),
    on: z.boolean().default(true),
    at: z.string().transform(Number),
  }),
  execute: (args) => {
    void (true satisfies Same<typeof args, { n: number; on: boolean; at: number }>);
    return String(args.at);
  },
});
export const fromArktype = defineTool({
  ...base,
  parameters: type({ n: "number.integer", "kind?": "'x' | 'y'" }),
  execute: (args) => {
    void (true satisfies Same<typeof args, { n: number; kind?: "x" | "y" }>);
    return String(args.n);
  },
});
export const fromValibot = defineTool({
  ...base,
  parameters: v.object({ n: v.number(), tags: v.optional(v.array(v.string())) }),
  jsonSchema: { type: "object", properties: { n: { type: "number" } } },
  execute: (args) => {
    void (true satisfies Same<typeof args, { n: number; tags?: string[] | undefined }>);
    return String(args.n);
  },
});
void (true satisfies Same<
  InferSchema<ReturnType<typeof withJsonSchema<unknown, { n: number }>>>,
  { n: number }
>);

// Tools with different arguments fit in one list, and keep their own types outside it.
export const tools: AgentTool[] = [fromTypebox, fromLiteral, fromZod, fromArktype, fromValibot];
void (true satisfies Same<
  Parameters<typeof fromZod.execute>[1],
  { n: number; on: boolean; at: number }
>);

// An agent accepts tools whose context its own context satisfies.
interface Harbour {
  readonly berths: readonly string[];
  readonly user: string;
}
const reserve = defineTool({
  ...base,
  parameters: z.object({}),
  execute: (_, run: ToolRun<Harbour>) => run.context.user,
});
const count = defineTool({
  ...base,
  parameters: z.object({}),
  execute: (_, run: ToolRun<Pick<Harbour, "berths">>) => String(run.context.berths.length),
});
const queue = defineTool({
  ...base,
  parameters: z.object({}),
  execute: (_, run: ToolRun<{ readonly queue: number[] }>) => String(run.context.queue.length),
});
export const harbour: Agent<Harbour> = new Agent<Harbour>({
  initialState: { tools: [reserve, count, fromZod] },
  context: { berths: [], user: "" },
});
// @ts-expect-error its context has no queue
export const noQueue: Agent<Harbour> = new Agent<Harbour>({ initialState: { tools: [queue] } });

// Invalid definitions
// @ts-expect-error execute is missing
defineTool({ ...base, parameters: typebox });
// @ts-expect-error JSON has no bigint
defineTool({ ...base, parameters: typebox, execute: () => 5n });
// @ts-expect-error a JSON Schema is an object
defineTool({ ...base, parameters: v.object({}), jsonSchema: "object", execute: () => "" });
// @ts-expect-error the name of the tool is missing
toJsonSchema(typebox);

// A schema without JSON Schema does not compile alone, only with one beside it.
export const valibotAlone = (): unknown =>
  // @ts-expect-error jsonSchema is missing
  defineTool({ ...base, parameters: v.object({ a: v.string() }), execute: ({ a }) => a });
export const zodThree = (): unknown =>
  // @ts-expect-error jsonSchema is missing
  defineTool({ ...base, parameters: zodV3.object({ a: zodV3.string() }), execute: ({ a }) => a });
export const anySchema = <S extends StandardSchema>(parameters: S): AgentTool<S> =>
  defineTool({ ...base, parameters, jsonSchema: toJsonSchema(parameters, "a"), execute: String });
export const zodMini = (): unknown =>
  // @ts-expect-error jsonSchema is missing
  defineTool({ ...base, parameters: mini.object({ a: mini.string() }), execute: ({ a }) => a });

// A generic wrapper has a schema whose type is not known yet.
export const ofTypebox = <T extends TSchema>(
  parameters: T,
  execute: (args: InferSchema<T>) => string,
): AgentTool<T> => defineTool({ ...base, parameters, execute });
export const ofZod = <T extends z.ZodObject>(
  parameters: T,
  execute: (args: InferSchema<T>) => string,
): AgentTool<T> => defineTool({ ...base, parameters, execute });
export const ofAny = <const T extends object>(
  parameters: T,
  execute: (args: InferSchema<T>) => string,
): AgentTool<T> => defineTool({ ...base, parameters, execute });
export const ofEach: AgentTool[] = [
  ofTypebox(typebox, ({ path }) => path),
  ofZod(z.object({ a: z.string() }), ({ a }) => a),
  ofAny({ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, ({ a }) => a),
];
