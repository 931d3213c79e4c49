/** Runs with the engine and the store in memory. */
import { Agent, type AgentEvent, type AgentOptions, type AgentTool } from "@bowline/core";
import { createScriptedModel, type ScriptedAnswer } from "@bowline/core/testing";
import type { AssistantContent } from "@bowline/core";
import { readOptions, type EventSource, type RestateRunsOptions } from "../src/options.ts";
import { Adoptions } from "../src/run/adoptions.ts";
import { runAttempt } from "../src/run/attempt.ts";
import type { RunInput, RunOutcome, WakeInput } from "../src/wire.ts";
import { createFakeStore, type FakeStore } from "./fake-store.ts";
import { FakeEngine } from "./fake-engine.ts";

/** An answer with calls. */
export function calls(...names: readonly (string | [string, object])[]): ScriptedAnswer {
  const content = names.map((call, index): AssistantContent => {
    const [name, args] = typeof call === "string" ? [call, {}] : call;
    return { type: "toolCall", id: `c${index}`, name, arguments: args as Record<string, unknown> };
  });
  return { content, stopReason: "toolUse" };
}

export interface TestRun {
  readonly engine: FakeEngine;
  readonly store: FakeStore;
  readonly adoptions: Adoptions;
  /** The turns for which the model was called. */
  readonly asked: number[];
  /** The names of the tools that began. */
  readonly begun: string[];
  readonly events: { readonly event: AgentEvent; readonly source: EventSource }[];
  /** Makes attempts until the run has ended. */
  run(input?: RunInput | WakeInput): Promise<RunOutcome>;
  /** Makes one attempt, until it is over or the run has ended. */
  attempt(input?: RunInput | WakeInput): Promise<RunOutcome | "over">;
}

export interface TestOptions {
  readonly answers: readonly ScriptedAnswer[];
  readonly tools?: Readonly<Record<string, Partial<AgentTool> & { readonly ms?: number }>>;
  readonly agent?: AgentOptions;
  readonly options?: Partial<RestateRunsOptions>;
  /** Called when the model is asked for a turn. */
  readonly onAsk?: (turn: number) => Promise<void> | void;
  /** Default: steps wait for 20 ms to be taken over. */
  readonly adoptions?: Adoptions;
}

const message: RunInput = {
  messageId: "m1",
  message: { role: "user", content: "go", timestamp: 1 },
};
const MOST_ATTEMPTS = 60;

export function testRun({
  answers,
  tools = {},
  agent,
  options,
  onAsk,
  // A process dies with its steps. Tests of adoption keep this.
  adoptions = new Adoptions(20),
}: TestOptions): TestRun {
  const engine = new FakeEngine("s");
  const store = createFakeStore();
  const [asked, begun, events]: [number[], string[], TestRun["events"]] = [[], [], []];
  const { model, streamFn } = createScriptedModel(
    Array.from({ length: 500 }, () => async ({ messages }) => {
      const turn = messages.filter(({ role }) => role === "assistant").length;
      asked.push(turn);
      await onAsk?.(turn);
      return answers[turn] ?? "no more";
    }),
  );
  const toolList = Object.entries(tools).map(([name, { ms = 0, ...more }]): AgentTool => ({
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: {} },
    async execute(_id, _args, signal) {
      begun.push(name);
      if (ms > 0)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          signal?.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
          });
        });
      return { content: [{ type: "text", text: `${name} done` }] };
    },
    ...more,
  }));
  const settings = readOptions({
    store,
    createAgent: () => new Agent({ model, streamFn, tools: toolList, ...agent }),
    onEvent: (event, source) => void events.push({ event, source }),
    ...options,
  });
  const attempt = (
    input: RunInput | WakeInput = message,
    used = adoptions,
  ): Promise<RunOutcome | "over"> => {
    if ("messageId" in input) store.session.accept(input);
    const context = engine.begin();
    const ran = runAttempt(context, settings, used, input).catch((error: unknown) => {
      if (context.ended.aborted) return "over" as const;
      throw error;
    });
    return Promise.race([ran, context.over]);
  };
  return {
    engine,
    store,
    adoptions,
    asked,
    begun,
    events,
    attempt,
    async run(input) {
      for (let count = 0; count < MOST_ATTEMPTS; count++) {
        const outcome = await attempt(input, new Adoptions(0));
        if (outcome !== "over") return outcome;
      }
      throw new Error(`no end: ${engine.faults.join("; ")}`);
    },
  };
}

/** The roles of a transcript, and the texts of its results. */
export function shapeOf({ session }: FakeStore): string[] {
  return session.entries.flatMap((entry) => {
    if (entry.type !== "message") return [];
    const { message: said } = entry as unknown as {
      message: { role: string; content: string | { text?: string }[] };
    };
    if (said.role !== "toolResult") return [said.role];
    return [`result: ${(said.content as { text?: string }[])[0]?.text ?? ""}`];
  });
}
