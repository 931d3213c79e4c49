/** A harness over a journal in memory: the reference for engines that replay. */
import type { Clock } from "../../clock.ts";
import { createOutputRun } from "../../agent/output.ts";
import type { AgentMessage } from "../../agent/contract/agent-message.ts";
import type { Effects } from "../../agent/contract/effects.ts";
import { runLoop } from "../../agent/run/run-loop.ts";
import type { RunInput } from "../../agent/run/run.ts";
import type { RunResult } from "../../agent/run/run-result.ts";
import type { AttemptSetup, EffectsHarness } from "./harness.ts";
import { Journal } from "./journal.ts";
import { JournalAttempt, type Medium } from "./journal-attempt.ts";

export interface JournalOptions {
  /** Whether nested runs are started through `child`. Default false. */
  readonly hasChildren?: boolean | undefined;
}

/**
 * Creates a harness whose attempts replay the loop from a journal in memory. It rejects another
 * order of names, and results that are not JSON.
 */
export function createJournalHarness({ hasChildren = false }: JournalOptions = {}): EffectsHarness {
  let medium: Medium | undefined;
  let clock: Clock | undefined;
  let current: JournalAttempt | undefined;
  let messages: AgentMessage[] = [];
  return {
    replays: true,
    canRepeat: true,
    async attempt(setup: AttemptSetup): Promise<RunResult> {
      const { config, prompt, stopped, tools, streamFn, output } = setup;
      clock = config.clock as Clock;
      medium ??= {
        journal: new Journal(),
        startedAt: clock.now(),
        answers: new Map(),
        queues: { steering: [], followUp: [] },
      };
      const controller = new AbortController();
      const abort = (): void => controller.abort();
      let fail: (error: Error) => void = () => {};
      const failed = new Promise<never>((_, reject) => (fail = reject));
      const about = { clock, ended: stopped, number: setup.attempt, abort, fail };
      current = new JournalAttempt(medium, about);
      messages = [];
      const context = { systemPrompt: "", messages, tools };
      const effects = setup.watch(portsOf(current, hasChildren, setup.onWait));
      const given = { ...config, createId: () => "run" };
      const input: RunInput = {
        context,
        effects,
        streamFn,
        signal: controller.signal,
        config: () => given,
      };
      const forOutput = output === undefined ? undefined : createOutputRun(output, input);
      const running = runLoop([prompt], forOutput?.input ?? input);
      const result = await Promise.race([running, failed]);
      return forOutput === undefined ? result : forOutput.finish(result);
    },
    answer(name, value) {
      medium?.answers.set(name, { value, at: clock?.now() ?? 0 });
      current?.answered(name);
    },
    push: (kind, message) => void medium?.queues[kind].push(message),
    abort: () => current?.aborted(),
    transcript: () => messages,
    isBusy: () => current?.isBusy === true,
  };
}

function portsOf(
  attempt: JournalAttempt,
  hasChildren: boolean,
  onWait: AttemptSetup["onWait"],
): Effects {
  return {
    patience: attempt.patience,
    approvedTools: attempt.approvedTools,
    ended: attempt.ended,
    now: () => attempt.now(),
    step: (name, fn, about) => attempt.step(name, fn, about),
    begin: (calls) => attempt.begin(calls),
    decide: (name, fn) => attempt.decide(name, fn),
    ...(hasChildren && { child: (name, { here }) => attempt.decide(name, here) }),
    inbox: (kind, turn) => attempt.inbox(kind, turn),
    hasQueued: (kind) => attempt.hasQueued(kind),
    waitFor(name, options) {
      const answer = attempt.waitFor<never>(name, options);
      onWait(name);
      return answer;
    },
    publish: () => {},
  };
}
