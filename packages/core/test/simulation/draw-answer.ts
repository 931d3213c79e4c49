/** Draws one answer of a plan. */
import type { ErrorCode, ErrorInfo } from "../../src/errors.ts";
import type { Usage } from "../../src/llm/usage.ts";
import { OUTPUT_TOOL } from "./arguments.ts";
import { delays } from "./draw-tool.ts";
import type { AnswerPlan, ArgumentsKind, PartPlan } from "./plan.ts";
import type { Random } from "./random.ts";

const codes: readonly ErrorCode[] = [
  "rate_limited",
  "overloaded",
  "server_error",
  "timeout",
  "refusal",
  "aborted",
];

const spoiled: readonly ArgumentsKind[] = ["empty", "negative", "surplus", "cut", "list", "noJson"];
const good: readonly ArgumentsKind[] = ["fit", "fit", "fit", "mendable", "encodedTwice"];

export interface Faults {
  readonly streams: boolean;
  /** The tools that are called; empty in simulations without calls. */
  readonly tools: readonly string[];
}

export function drawAnswer(random: Random, faults: Faults): AnswerPlan {
  const parts = random.some(4, (index) => drawPart(random, index, faults));
  const slow = random.chance(0.3) && { wait: random.pick(delays), batch: 1 + random.below(4) };
  const batched = random.chance(0.3) && { batch: 1 + random.below(4) };
  const shape = random.pick([
    "plain",
    "batches",
    "iterator",
    "final",
    undefined,
    undefined,
    undefined,
  ] as const);
  return {
    parts,
    ...(shape !== undefined && { shape }),
    ...batched,
    ...slow,
    ...(random.chance(0.2) && { onAbort: random.pick(["ignores", "throws"] as const) }),
    ...(random.chance(0.2) && { usage: drawUsage(random) }),
    ...(random.chance(0.05) && { paused: true }),
    ...(random.chance(0.15) && {
      before: random.some(3, () => random.pick(["retry", "retry", "failover"] as const)),
    }),
    ...(faults.streams && drawFault(random)),
    error: drawError(random),
  };
}

function drawFault(random: Random): Partial<AnswerPlan> {
  return {
    ...(random.chance(0.15) && {
      opens: random.pick(["later", "throws", "rejects", "garbage"] as const),
    }),
    ...(random.chance(0.3) && {
      ends: random.pick(["error", "error", "throws", "throwsTyped", "cut", "never"] as const),
    }),
    ...(random.chance(0.2) && {
      stopReason: random.pick(["stop", "length", "length", "toolUse"] as const),
    }),
    ...(random.chance(0.1) && { retracts: true }),
    ...(random.chance(0.1) && { babbles: true }),
  };
}

function drawPart(random: Random, index: number, { tools }: Faults): PartPlan {
  const kind = random.below(20);
  if (kind < 4 || tools.length === 0) return { type: "text", pieces: random.below(4) };
  if (kind < 6) return { type: "thinking", pieces: random.below(3) };
  if (kind < 7) return { type: "opaque" };
  // Few ids, so that they repeat in later turns. Within an answer, every wire makes them unique.
  const tool = random.chance(0.12)
    ? random.pick(["unknown", OUTPUT_TOOL, OUTPUT_TOOL])
    : random.pick(tools);
  return {
    type: "call",
    id: `call_${index}`,
    tool,
    args: random.pick(random.chance(0.2) ? spoiled : good),
  };
}

function drawUsage(random: Random): Usage {
  const input = random.below(10);
  const output = random.below(10);
  return {
    ...(random.chance(0.8) && { input, output, totalTokens: input + output }),
    ...(random.chance(0.5) && { cost: { total: random.below(10) / 1000 } }),
  };
}

function drawError(random: Random): ErrorInfo {
  return {
    code: random.pick(codes),
    message: `failure ${random.below(100)}`,
    retryable: random.chance(0.5),
    ...(random.chance(0.5) && { status: 400 + random.below(130) }),
    ...(random.chance(0.5) && { retryAfterMs: random.below(10_000) }),
    ...(random.chance(0.3) && { requestId: `req_${random.below(1000)}` }),
  };
}
