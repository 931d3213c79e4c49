/** The lists of {@link DurableSessions} over all sessions. They take no lock. */
import type { StoreContext } from "../context.ts";
import { answeredSince } from "./answers.ts";
import { checkKey, checkLimit } from "./check-input.ts";
import type {
  AnsweredApproval,
  ApprovalFilter,
  FoundApproval,
  FoundRun,
  OpenApproval,
  OpenRun,
  ListedRun,
  RunFilter,
  WaitingMessage,
} from "./run-types.ts";
import {
  addRule,
  readRules,
  removeRule,
  type AllowRule,
  type RuleFilter,
  type StoredRule,
} from "./rules.ts";
import * as runs from "./runs.ts";
import { waitingSince } from "./waiting.ts";

export class DurableLists {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async waitingSince(
    before: number,
    limit: number,
    after?: string,
  ): Promise<readonly WaitingMessage[]> {
    checkLimit(limit);
    await this.#context.ready();
    return waitingSince(this.#context, { before, limit, after });
  }

  async openRuns(filter: RunFilter = {}): Promise<readonly OpenRun[]> {
    checkLimit(filter.limit);
    await this.#context.ready();
    return runs.openRuns(this.#context, filter);
  }

  async runningSince(before: number, limit: number, after?: string): Promise<readonly ListedRun[]> {
    checkLimit(limit);
    await this.#context.ready();
    return runs.runningSince(this.#context, { before, limit, after });
  }

  async countRuns(): Promise<{ readonly queued: number; readonly running: number }> {
    await this.#context.ready();
    return runs.countRuns(this.#context);
  }

  async findRun(runId: string): Promise<readonly FoundRun[]> {
    await this.#context.ready();
    return runs.findRun(this.#context, runId);
  }

  async openApprovals(filter: ApprovalFilter = {}): Promise<readonly OpenApproval[]> {
    checkLimit(filter.limit);
    await this.#context.ready();
    return runs.openApprovals(this.#context, filter);
  }

  async findApproval(approvalId: string): Promise<readonly FoundApproval[]> {
    await this.#context.ready();
    return runs.findApproval(this.#context, approvalId);
  }

  async addRule(key: string, rule: AllowRule): Promise<void> {
    checkKey("key of a rule", key);
    checkKey("tool of a rule", rule.tool);
    await this.#context.ready();
    return addRule(this.#context, key, rule);
  }

  async removeRule(key: string): Promise<void> {
    await this.#context.ready();
    return removeRule(this.#context, key);
  }

  async rules(filter: RuleFilter = {}): Promise<readonly StoredRule[]> {
    await this.#context.ready();
    return readRules(this.#context, filter);
  }

  async answeredSince(
    before: number,
    limit: number,
    after?: string,
  ): Promise<readonly AnsweredApproval[]> {
    checkLimit(limit);
    await this.#context.ready();
    return answeredSince(this.#context, { before, limit, after });
  }
}
