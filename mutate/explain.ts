/** Explains one mutant by its id: its bytes, the acceptor's verdict, and the library's result. */
import { wires, type Wire } from "./acceptors/accept.ts";
import { generatedAnswers, recordedAnswers, type Base } from "./bases.ts";
import { tryMutant } from "./try-base.ts";

/** The number of generated streams per seed, as in a run. */
const GENERATED = 200;

/** Prints the mutant. Resolves to the exit code: 1 for a finding, 2 for an unknown id. */
export async function explain(id: string): Promise<number> {
  const [, wireName, name = "", how = ""] = /^([^/]*)\/([^/]*)\/(.*)$/.exec(id) ?? [];
  const wire = wires.find((one) => one === wireName);
  const base = wire && (await baseNamed(wire, name));
  if (base === undefined) {
    console.error(`No such mutant: ${id}`);
    return 2;
  }
  const { body, verdict, decoded, problem } = await tryMutant(base, how);
  console.log(body.toString());
  console.log(`the acceptor: ${JSON.stringify(verdict, undefined, 2)}`);
  console.log(`this library: ${JSON.stringify(decoded, undefined, 2)}`);
  console.log(problem === undefined ? "nothing is wrong" : `FINDING: ${problem.text}`);
  return problem === undefined ? 0 : 1;
}

async function baseNamed(wire: Wire, name: string): Promise<Base | undefined> {
  const [, seed] = /^generated-(\d+)-\d+$/.exec(name) ?? [];
  const bases =
    seed === undefined
      ? (recordedAnswers(wire) ?? [])
      : await generatedAnswers(wire, Number(seed), GENERATED);
  return bases.find((base) => base.name === name);
}
