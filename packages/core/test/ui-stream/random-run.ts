/** Random runs of an agent: answers of all kinds of parts, retractions, tools, approvals, ends. */
import { Readable } from "node:stream";
import fc from "fast-check";
import {
  Agent,
  reduceEvents,
  requireApproval,
  type AssistantMessage,
  type AssistantMessageEvent,
  type UserMessage,
} from "../../src/index.ts";
import { tool } from "../support.ts";

const text = fc.string({ maxLength: 12, unit: "grapheme" });
const part = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text }),
  fc.record({ type: fc.constant("thinking" as const), text }),
  fc.record({ type: fc.constant("opaque" as const) }),
  fc.record({
    type: fc.constant("call" as const),
    tool: fc.constantFrom("work", "fail", "grow", "ask", "ask", "unknown"),
    say: text,
    isAllowed: fc.boolean(),
    isBroken: fc.boolean(),
  }),
);
const answer = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  /** The first part that is withdrawn and written again. */
  retractsFrom: fc.option(fc.nat(3), { nil: undefined }),
  ends: fc.oneof(
    { weight: 8, arbitrary: fc.constant("well" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("error" as const, "abort" as const, "length" as const),
    },
  ),
  /** Characters per delta. */
  step: fc.integer({ min: 1, max: 7 }),
});

/** What a run does. */
export const plans = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
  steering: fc.option(text, { nil: undefined }),
  followUp: fc.option(text, { nil: undefined }),
  isSequential: fc.boolean(),
  hasReasoning: fc.boolean(),
});

type PlanOf<T> = T extends fc.Arbitrary<infer TValue> ? TValue : never;
export type Plan = PlanOf<typeof plans>;
type Answer = Plan["answers"][number];
type Part = Answer["parts"][number];

/** Stands in every error text: no page may show it. */
export const secret = "sk-live-1234567890";

function eventsOf(
  given: Part,
  id: string,
  { step, ...about }: { step: number; attempt: number; contentIndex: number },
): AssistantMessageEvent[] {
  const pieces = (all: string): string[] =>
    Array.from({ length: Math.ceil(all.length / step) }, (_, index) =>
      all.slice(index * step, (index + 1) * step),
    );
  switch (given.type) {
    case "opaque":
      return [
        { type: "opaque_end", ...about, part: { type: "opaque", protocol: "p", raw: { any: 1 } } },
      ];
    case "text":
    case "thinking":
      return [
        { type: `${given.type}_start`, ...about },
        ...pieces(given.text).map((delta) => ({
          type: `${given.type}_delta` as const,
          ...about,
          delta,
        })),
        { type: `${given.type}_end`, ...about, content: given.text },
      ];
    case "call": {
      const args = { say: given.say, isAllowed: given.isAllowed };
      const isBroken = given.isBroken && given.tool === "work";
      const argumentsText = isBroken ? '{"say":' : JSON.stringify(args);
      const toolCall = {
        type: "toolCall" as const,
        id,
        name: given.tool,
        arguments: isBroken ? {} : args,
        argumentsText,
        ...(isBroken && { argumentsError: secret }),
      };
      return [
        { type: "toolcall_start", ...about, id, name: given.tool },
        ...pieces(argumentsText).map((delta) => ({
          type: "toolcall_delta" as const,
          ...about,
          delta,
        })),
        { type: "toolcall_end", ...about, toolCall },
      ];
    }
  }
}

/** Returns the events of an answer. Ids of calls repeat from answer to answer. */
function* play(
  { parts, retractsFrom, ends, step }: Answer,
  abort: () => void,
): Generator<AssistantMessageEvent> {
  const error = { code: "overloaded" as const, message: secret, retryable: true };
  const write = (from: number, attempt: number): AssistantMessageEvent[] =>
    parts.flatMap((given, contentIndex) =>
      contentIndex < from
        ? []
        : eventsOf(given, `c${contentIndex}`, { step, attempt, contentIndex }),
    );
  const events: AssistantMessageEvent[] = [
    { type: "start", attempt: 1, api: "a", provider: "p", model: "m", timestamp: 0 },
    ...write(0, 1),
  ];
  if (retractsFrom !== undefined && retractsFrom <= parts.length)
    events.push(
      { type: "message_retract", attempt: 1, contentIndex: retractsFrom, error },
      ...write(retractsFrom, 2),
    );
  const message = reduceEvents(structuredClone(events)) as AssistantMessage;
  yield* events;
  if (ends === "abort") abort();
  if (ends === "error" || ends === "abort") {
    const reason = ends === "abort" ? "aborted" : "error";
    const code = ends === "abort" ? "aborted" : "server_error";
    const failure = {
      stopReason: reason,
      errorMessage: secret,
      error: { ...error, code },
    } as const;
    yield { type: "error", attempt: 1, reason, error: { ...message, ...failure } };
  } else {
    const hasCalls = parts.some(({ type }) => type === "call");
    const reason = ends === "length" ? "length" : hasCalls ? "toolUse" : "stop";
    yield { type: "done", attempt: 1, reason, message: { ...message, stopReason: reason } };
  }
}

const last: Answer = {
  parts: [{ type: "text", text: "end" }],
  ends: "well",
  step: 3,
  retractsFrom: undefined,
};

/** An agent that plays the plan when it is prompted. */
export function agentFor({ answers, steering, followUp, isSequential }: Plan): Agent {
  let next = 0;
  const agent: Agent = new Agent({
    model: {
      id: "m",
      name: "m",
      api: "a",
      provider: "p",
      baseUrl: "",
      reasoning: true,
      input: ["text"],
    },
    tools: [
      tool("work", () => "worked"),
      tool("fail", () => {
        throw new Error(secret);
      }),
      tool("grow", () => "", {
        execute: async function* () {
          yield "half";
          await Promise.resolve();
          return "grown";
        } as never,
      }),
      tool("ask", () => "allowed", { needsApproval: true }),
    ],
    streamFn: () => Readable.from(play(answers[next++] ?? last, () => agent.abort())),
    toolExecution: isSequential ? "sequential" : "parallel",
    beforeToolCall: requireApproval({ needed: () => false, timeoutMs: 0 }),
    abortGraceMs: 50,
    budget: { maxTurns: 12 },
  });
  const say = (content: string): UserMessage => ({ role: "user", content, timestamp: 0 });
  if (steering !== undefined) agent.steer(say(steering));
  if (followUp !== undefined) agent.followUp(say(followUp));
  return agent;
}

/** Answers approvals as the model's arguments say. */
export function answerByPlan(agent: Agent): void {
  agent.subscribe((event) => {
    if (event.type !== "approval_request") return;
    const { isAllowed } = event.args as { isAllowed: boolean };
    agent.answer(event.approvalId, { decision: isAllowed ? "allow" : "deny" });
  });
}
