/** Tries all mutants of one stream. */
import { createHash } from "node:crypto";
import { accept, type Wire } from "./acceptors/accept.ts";
import type { Held, Verdict } from "./acceptors/verdict.ts";
import { heldBy, type Base } from "./bases.ts";
import { decode, type Decoded } from "./decode.ts";
import { splitEvents } from "./event-stream.ts";
import { withSmallestBodies, type Finding } from "./finding.ts";
import { findProblem } from "./judge.ts";
import { kindOf } from "./legal-kinds.ts";
import { applyMutation, parseMutation, type Mutation } from "./mutation.ts";
import { planMutants, type Mutant } from "./plan.ts";

export interface BaseResult {
  readonly findings: Finding[];
  /** The number of mutants with each verdict. */
  readonly verdicts: Record<string, number>;
  /** A hash for each mutant, to count distinct ones. */
  readonly hashes: string[];
}

/** The result of one mutant. */
export interface Outcome {
  readonly body: Buffer<ArrayBuffer>;
  readonly verdict: Verdict;
  /** The verdict in one line. */
  readonly said: string;
  /** Undefined if the decoder threw. */
  readonly decoded: Decoded | undefined;
  readonly problem: Pick<Finding, "kind" | "text"> | undefined;
}

/** Tries the stream itself first, since its acceptor and the decoder must agree on it. */
export async function tryBase(base: Base, count: number, seed: string): Promise<BaseResult> {
  const findings: Finding[] = [];
  const verdicts: Record<string, number> = {};
  const hashes: string[] = [];
  const { wire, name } = base;
  const whole = heldBy(wire, base.body);
  const events = splitEvents(base.body);
  const mutants = planMutants(wire, events, count, `${seed}/${name}`);
  for (const mutant of [{ how: "", mutations: [], events }, ...mutants]) {
    const { body, said, problem } = await tryOne(wire, whole, mutant);
    const hash = createHash("sha1").update(wire).update(body).digest("base64");
    hashes.push(hash.slice(0, 12));
    verdicts[said] = (verdicts[said] ?? 0) + 1;
    const id = `${wire}/${name}/${mutant.how}`;
    if (problem !== undefined)
      findings.push({ id, ...problem, verdict: said, size: body.length, body: body.toString() });
  }
  return { findings: withSmallestBodies(findings), verdicts, hashes };
}

/** Tries one mutant, given the part of its id that tells how it is made. */
export async function tryMutant(base: Base, how: string): Promise<Outcome> {
  const mutations = how === "" ? [] : how.split(",").map(parseMutation);
  const events = mutations.reduce(
    (left, mutation) => applyMutation(base.wire, left, mutation),
    splitEvents(base.body),
  );
  return tryOne(base.wire, heldBy(base.wire, base.body), { how, mutations, events });
}

async function tryOne(wire: Wire, whole: Held, { mutations, events }: Mutant): Promise<Outcome> {
  const body = Buffer.concat(events);
  const verdict = accept(wire, body);
  const { said, isListed } = describe(wire, verdict, whole, mutations);
  const held = verdict.is === "illegal" ? [] : verdict.held.calls;
  const names = new Set([...whole.calls, ...held].map(({ name }) => name));
  try {
    const decoded = await decode(wire, body, [...names]);
    const problem = isListed ? findProblem(verdict, decoded, whole) : unlisted;
    return { body, verdict, said, decoded, problem };
  } catch (error) {
    const problem = { kind: "crashed", text: String(error) } as const;
    return { body, verdict, said, decoded: undefined, problem };
  }
}

const unlisted = { kind: "unlisted", text: "a legal mutant of a kind that is not listed" } as const;

function describe(
  wire: Wire,
  verdict: Verdict,
  whole: Held,
  mutations: readonly Mutation[],
): { said: string; isListed: boolean } {
  if (verdict.is !== "legal") return { said: `${verdict.is}: ${verdict.reason}`, isListed: true };
  const { name, isListed } = kindOf(wire, whole, verdict.held, mutations);
  return { said: `legal: ${name}`, isListed };
}
