/** The types of values while they arrive. Only the compiler reads this file. */
import { Type } from "typebox";
import { z } from "zod";
import { defineTool, type Agent, type AgentEvent } from "../../src/index.ts";
import {
  anyOutput,
  partialArguments,
  partialOutput,
  type DeepPartial,
  type PartialArgumentsEvent,
  type PartialOutputEvent,
} from "../../src/partial/index.ts";

/** Accepts `true` only if both types are the same. */
// oxlint-disable typescript/no-unnecessary-type-parameters -- the parameter makes the comparison exact
type Same<A, B> =
  (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;
// oxlint-enable typescript/no-unnecessary-type-parameters
type Plain<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

type EventOf<T> = T extends AsyncIterable<infer Event> ? Event : never;
type LiveOf<T> =
  Extract<EventOf<T>, { readonly op: "set" }> extends { readonly partial?: infer Live }
    ? Live
    : never;
type EndOf<T> = Extract<EventOf<T>, { readonly type: "partial_end" }>;

const typebox = Type.Object({
  name: Type.String(),
  at: Type.Optional(Type.Tuple([Type.Number(), Type.Number()])),
  rows: Type.Array(Type.Object({ kind: Type.Union([Type.Literal("a"), Type.Literal("b")]) })),
});
const json = {
  type: "object",
  properties: {
    name: { type: "string" },
    rows: {
      type: "array",
      items: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    },
  },
  required: ["name", "rows"],
} as const;
const zod = z.object({
  name: z.string(),
  day: z.string().transform((text) => new Date(text)),
  rows: z.array(z.object({ n: z.number() })),
});

declare const agent: Agent;
declare const events: AsyncIterable<AgentEvent>;

// The schema of the run
const ofTypebox = partialOutput(agent.stream("Hi", { output: typebox }));
void (true satisfies Same<
  LiveOf<typeof ofTypebox>,
  { name?: string; at?: [number?, number?]; rows?: { kind?: "a" | "b" }[] }
>);
const ofJson = partialOutput(agent.stream("Hi", { output: json }));
void (true satisfies Same<LiveOf<typeof ofJson>, { name?: string; rows?: { n?: number }[] }>);
const end: EndOf<typeof ofJson>["output"] = { name: "a", rows: [{ n: 1 }] };
void end;

// A schema beside the run: what the model writes, and what the schema makes of it
const ofZod = partialOutput(events, { output: zod });
void (true satisfies Same<
  LiveOf<typeof ofZod>,
  { name?: string; day?: string; rows?: { n?: number }[] }
>);
declare const ended: EndOf<typeof ofZod>;
void (ended.output satisfies { name: string; day: Date; rows: { n: number }[] } | undefined);
// @ts-expect-error a run may end without an output
void ended.output.name;

// No schema
const unknown = partialOutput(events);
void (true satisfies Same<LiveOf<typeof unknown>, unknown>);

// The value alone
const ofList = partialOutput(events, { output: anyOutput(z.array(z.object({ n: z.number() }))) });
void (true satisfies Same<LiveOf<typeof ofList>, { n?: number }[]>);
const list = agent.prompt("Hi", { output: anyOutput({ enum: ["a", "b"] }) });
void (async (): Promise<"a" | "b" | undefined> => (await list).output);

// Elements
export async function elements(): Promise<void> {
  for await (const { value } of ofZod.elements(["rows"]))
    void (true satisfies Same<typeof value, { n: number }>);
  for await (const { value } of ofList.elements())
    void (true satisfies Same<typeof value, { n: number }>);
  for await (const { value } of ofZod.elements(["elsewhere"]))
    void (true satisfies Same<typeof value, unknown>);
  for await (const { value } of unknown.elements(["rows"], { items: { type: "string" } }))
    void (true satisfies Same<typeof value, string>);
}

// The arguments of a tool
const tool = defineTool({ name: "a", description: "", parameters: zod, execute: () => "" });
const args = partialArguments(events, tool);
void (true satisfies Same<
  LiveOf<typeof args>,
  { name?: string; day?: string; rows?: { n?: number }[] }
>);
declare const argumentsEnd: EndOf<typeof args>;
void (argumentsEnd.arguments?.day satisfies Date | undefined);
void (argumentsEnd.toolCallId satisfies string);

// Functions of events take those of any schema
export function show(event: PartialOutputEvent | PartialArgumentsEvent): string {
  switch (event.type) {
    case "partial_output":
    case "partial_arguments":
      return event.op === "append" ? event.increment : JSON.stringify(event.increment);
    case "partial_reset":
      return event.reason;
    case "partial_stopped":
      return event.message;
    case "partial_end":
      return "toolCallId" in event ? event.toolCallId : event.reason;
  }
}
void (true satisfies Same<DeepPartial<unknown>, unknown>);
