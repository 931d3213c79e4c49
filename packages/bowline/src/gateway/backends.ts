/** What answers for an agent: its own model, a configured other, or the practice model. Never silently another vendor's. */
import { BowlineError, getModel, parseModelRef, vendors } from "@bowline/core";
import { withPrices } from "@bowline/core/prices";
import { startPracticeServer, type PracticeServer } from "../practice/index.ts";
import type { AgentEntry } from "./agents-file.ts";
import { baseUrlVariable } from "./env-file.ts";
import type { Backend } from "./host.ts";

export interface BackendOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `provider/model`, asked when the agent's own has no key. Default none. */
  readonly fallback?: string;
}

export interface Backends {
  /** Rejects with `invalid_argument` for a reference that names nothing. */
  for(agent: AgentEntry): Promise<Backend>;
  close(): Promise<void>;
}

export function createBackends({ env, fallback }: BackendOptions): Backends {
  let practice: Promise<PracticeServer> | undefined;
  return {
    async for({ model: wanted }) {
      const own = find(wanted, env);
      if (own !== undefined) return own;
      const instead = fallback === undefined ? undefined : find(fallback, env);
      const why = `${wanted} has no key (${keyVariableOf(wanted)} is not set)`;
      if (instead !== undefined) {
        const message = `${why}: ${fallback} answers in its place, as configured.`;
        return { ...instead, notice: { code: "fallback_model", message } };
      }
      const { baseUrl } = await (practice ??= startPracticeServer());
      const model = getModel("practice", "practice", {
        baseUrl,
        name: "practice model",
        reasoning: false,
        input: ["text"],
      });
      const message = `${why}: the practice model answers, which is no LLM.`;
      return { model, isPractice: true, notice: { code: "practice_model", message } };
    },
    async close() {
      await (await practice)?.close();
    },
  };
}

/** Undefined when its key is missing. */
function find(reference: string, env: BackendOptions["env"]): Backend | undefined {
  const { provider, model: id } = parseModelRef(reference);
  const vendor = vendors.find((row) => row.id === provider);
  if (vendor === undefined) {
    const known = vendors.map((row) => row.id).join(", ");
    throw new BowlineError("invalid_argument", `${reference} names no provider that is known: ${known}.`);
  }
  const variable = baseUrlVariable(vendor.keyVariable);
  const baseUrl = variable === undefined ? undefined : set(env[variable]);
  const apiKey = vendor.keyVariable === undefined ? undefined : set(env[vendor.keyVariable]);
  if (vendor.keyVariable !== undefined && apiKey === undefined) return undefined;
  const model = withPrices(getModel(provider, id, baseUrl === undefined ? {} : { baseUrl }));
  return { model, isPractice: false, ...(apiKey !== undefined && { apiKey }) };
}

function keyVariableOf(reference: string): string {
  const { provider } = parseModelRef(reference);
  return vendors.find((row) => row.id === provider)?.keyVariable ?? "its key";
}

function set(value: string | undefined): string | undefined {
  const trimmed = value?.trim() ?? "";
  return trimmed === "" ? undefined : trimmed;
}
