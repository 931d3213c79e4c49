/** Tools that behave as a plan says. */
import type { AgentTool, AgentToolResult, AgentToolUpdateCallback } from "../../src/agent/index.ts";
import type { StandardSchema } from "../../src/schema.ts";
import { COMPLETED, fits, parameters } from "./arguments.ts";
import type { ExecutionFacts } from "./facts.ts";
import type { AgentPlan, GarbageKind, ToolCallPlan, ToolPlan } from "./plan.ts";
import { hops, type Timeline } from "./timeline.ts";
import type { Watch } from "./watch.ts";

const garbage: Readonly<Record<GarbageKind, unknown>> = {
  undefined,
  null: null,
  number: 42,
  string: "text",
  noContent: {},
  textContent: { content: "text" },
  list: [],
};

/** `nest` makes the tool of a nested agent. */
export function createTools(
  plans: readonly ToolPlan[],
  watch: Watch,
  timeline: Timeline,
  nest: (plan: AgentPlan) => Pick<AgentTool, "execute">,
): AgentTool[] {
  return plans.map((plan): AgentTool => {
    const nested = plan.nested && nest(plan.nested);
    let calls = 0;
    return {
      name: plan.name,
      description: `The tool ${plan.name}.`,
      parameters: plan.schema === undefined ? parameters : standardSchema(plan.schema, timeline),
      ...(plan.sequential && { executionMode: "sequential" as const }),
      ...(plan.timeoutMs !== undefined && { timeoutMs: plan.timeoutMs }),
      ...(plan.prepare !== undefined && { prepareArguments: prepare(plan.prepare) }),
      execute(toolCallId, params, signal = new AbortController().signal, onUpdate, run) {
        const call = plan.calls[calls++] ?? {};
        const facts = watch.executed(plan, toolCallId, params, signal, run);
        Object.assign(params as object, { n: "spoiled" }); // a tool receives its own copy
        if (nested !== undefined) {
          const running = nested.execute(
            toolCallId,
            { prompt: `${watch.tag} a task` },
            signal,
            onUpdate,
            run,
          );
          return settleFacts(running, facts, () => {});
        }
        if (call.ends === "throwsAtOnce") {
          facts.settled = "threw";
          throw new Error("the tool threw at once");
        }
        const stall = (until?: AbortSignal): Promise<void> => watch.stall(until);
        return settleFacts(execute(call, signal, onUpdate, timeline, stall), facts, () => {
          if (call.late !== undefined) timeline.after(call.late, () => onUpdate?.(text("late")));
        });
      },
    };
  });
}

async function settleFacts(
  running: AgentToolResult | Promise<AgentToolResult>,
  facts: ExecutionFacts,
  after: () => void,
): Promise<AgentToolResult> {
  try {
    const result = await running;
    facts.settled = "returned";
    return result;
  } catch (error) {
    facts.settled = "threw";
    throw error;
  } finally {
    after();
  }
}

async function execute(
  { wait, hops: count = 0, ends, updates = [], onAbort }: ToolCallPlan,
  signal: AbortSignal,
  onUpdate: AgentToolUpdateCallback | undefined,
  timeline: Timeline,
  stall: (until?: AbortSignal) => Promise<void>,
): Promise<AgentToolResult> {
  const heeded = onAbort === "ignores" ? undefined : signal;
  const pause = async (ms: number): Promise<boolean> => {
    await timeline.sleep(ms, heeded);
    if (heeded?.aborted !== true) return true;
    if (onAbort !== "returns") throw new Error("the tool stopped");
    return false;
  };
  await hops(count);
  for (const [index, ms] of updates.entries()) {
    if (!(await pause(ms))) return text("stopped early");
    onUpdate?.(text(`progress ${index}`));
  }
  if (wait !== undefined && !(await pause(wait))) return text("stopped early");
  if (ends === undefined) return text("fine");
  if (ends === "throws" || ends === "throwsAtOnce") throw new Error("the tool threw");
  if (ends === "never") {
    await stall(heeded);
    throw new Error("the tool stopped");
  }
  if (ends === "isError") return { ...text("failed"), isError: true };
  if (ends === "terminates") return { ...text("last"), details: { last: true }, terminate: true };
  return garbage[ends] as AgentToolResult;
}

function text(words: string): AgentToolResult {
  return { content: [{ type: "text", text: words }] };
}

function prepare(kind: "completes" | "throws"): (raw: unknown) => unknown {
  return (raw) => {
    if (kind === "throws") throw new Error("prepareArguments threw");
    return Object.keys(raw as object).length === 0
      ? Object.assign(raw as object, { n: COMPLETED })
      : raw;
  };
}

/** A Standard Schema of the same arguments, with its JSON Schema. */
function standardSchema(kind: "standard" | "slow" | "throws", timeline: Timeline): StandardSchema {
  const check = (value: unknown): { value: unknown } | { issues: [{ message: string }] } =>
    fits(value) ? { value } : { issues: [{ message: "does not fit" }] };
  return {
    "~standard": {
      version: 1,
      vendor: "simulated",
      validate: (value) => {
        if (kind === "throws") throw new Error("the schema threw");
        return kind === "slow" ? timeline.sleep(5).then(() => check(value)) : check(value);
      },
      jsonSchema: { input: () => parameters },
    },
  };
}
