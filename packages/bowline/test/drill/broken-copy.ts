/** Deliberately broken copies of the gateway, to check that the drill finds the fault. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Breakage {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Matches the fault that the drill reports. */
  readonly found: RegExp;
}

export const breakages = {
  "a message is acknowledged before it is on the disk": {
    file: "gateway/runs/pending.ts",
    from: "      await rename(`${path}.new`, path);\n",
    to: "      setTimeout(() => void rename(`${path}.new`, path).catch(() => {}), 300);\n",
    found: /was accepted and is|did not end/,
  },
  "a run's message is forgotten when the run begins": {
    file: "gateway/runs/run.ts",
    from: "if (arrived !== this.first) this.#host",
    to: "this.#host",
    found: /did not end|was accepted and is|has 0 ends|The run was interrupted/,
  },
  "clients are let in before what was left is taken up": {
    file: "gateway/server/server.ts",
    from: "isOpen.then(() => createWelcome(context, id, scope))",
    to: "createWelcome(context, id, scope)",
    found: /times|ends in|after the end|ended with|was accepted and is|after \d+/,
  },
  "the end of a run is not told again": {
    file: "gateway/runs/revive.ts",
    from: 'if (last?.type === "run_end") endRun(log, last as AnyEntry & RunEnd, interrupted, host.filter);\n  else log',
    to: "log",
    found: /did not end|was accepted and is/,
  },
  "a run that goes on numbers its events from 0": {
    file: "gateway/runs/run.ts",
    from: "log.continueFrom(interrupted.seq ?? 0,",
    to: "log.continueFrom(0,",
    found: /after \d+|did not end/,
  },
  "what is sent again after a restart is taken for new": {
    file: "gateway/runs/runs.ts",
    from: "    if (log === undefined) return this.#accept(id, params, kind);\n",
    to: "    if (log === undefined || params !== undefined) return this.#accept(id, params, kind);\n",
    found: /times|ends in|after the end|ended with|after \d+/,
  },
} as const satisfies Readonly<Record<string, Breakage>>;

/**
 * Creates a broken copy in a temporary folder and returns its server file. Rejects when the text to
 * break no longer exists.
 */
export async function breakCopy({
  file,
  from,
  to,
}: Breakage): Promise<AsyncDisposable & { readonly server: string }> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-broken-"));
  const own = join(import.meta.dirname, "../..");
  for (const part of ["src", "package.json", "test/drill", "test/gateway/forked.ts"])
    await cp(join(own, part), join(folder, part), { recursive: true });
  await symlink(join(own, "../../node_modules"), join(folder, "node_modules"));
  const path = join(folder, "src", file);
  const source = await readFile(path, "utf8");
  if (source.split(from).length !== 2)
    throw new Error(`${file} no longer has the text that is to be broken.`);
  await writeFile(
    path,
    source.replace(from, () => to),
  );
  return {
    server: join(folder, "test/drill/server.ts"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
