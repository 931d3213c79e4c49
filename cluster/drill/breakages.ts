/**
 * Deliberately broken copies of the product, to prove that the drill finds what the design prevents. The
 * product has no switch for them: a copy's sources are changed.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Edit {
  /** Below `packages`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Breakage {
  readonly what: string;
  readonly edits: readonly Edit[];
  /** Matches the check and the text of a finding that proves it. */
  readonly found: RegExp;
}

const restate = "restate/src/";

export const breakages = {
  pump: {
    what: "each result of the engine is awaited by itself",
    edits: [
      {
        file: `${restate}engine/pump.ts`,
        from: `    if (!this.#isRunning) {
      this.#isRunning = true;
      void this.#run();
    }
`,
        to: `    void this.#context.race([handle]).then(
      async ({ value, failure }) => {
        const entry = this.#entries.get(handle);
        this.#entries.delete(handle);
        if (failure === undefined) await entry?.deliver(value);
        else entry?.fail(failure);
      },
      () => {},
    );
`,
      },
    ],
    found: /^rest: .*(?:still|invocation is left)/,
  },
  epoch: {
    what: "writes of an attempt that was taken over are not refused",
    edits: [
      {
        file: "postgres/src/durable/durable-sessions.ts",
        from: "if (epoch !== undefined && session.epoch !== epoch)",
        to: "if (epoch !== undefined && Number.isNaN(epoch))",
      },
    ],
    found: /^zombies: .* wrote /,
  },
  attempt: {
    what: "live events do not say of which attempt they are",
    edits: [
      {
        file: "bowline/src/gateway/remote/run-feed.ts",
        from: "export const SEQ_PER_ATTEMPT = 10_000_000;",
        to: "export const SEQ_PER_ATTEMPT = 0;",
      },
      {
        file: "cluster/src/wire/messages.ts",
        from: "return [EVENT, run.runId, run.attempt, run.seq, event];",
        to: "return [EVENT, run.runId, 1, run.seq, event];",
      },
      {
        file: "cluster/src/wire/messages.ts",
        from: "return [POSITION, runId, attempt, seq];",
        to: "return [POSITION, runId, Math.min(attempt, 1), seq];",
      },
      {
        file: "cluster/src/wire/messages.ts",
        from: "JSON.stringify([runId, attempt, state, seq, frames.length]),",
        to: "JSON.stringify([runId, Math.min(attempt, 1), state, seq, frames.length]),",
      },
    ],
    found: /^streams: /,
  },
  mute: {
    what: "an attempt that is over goes on and publishes",
    edits: [
      {
        file: `${restate}run/adoptions.ts`,
        from: "const ORPHAN_MS = 5000;",
        to: "const ORPHAN_MS = 60_000;",
      },
      {
        file: "core/src/agent/run/run.ts",
        from: "    return effects.ended?.aborted === true\n",
        to: "    return effects.ended?.aborted === undefined\n",
      },
      {
        file: "cluster/src/worker/feed-memory.ts",
        from: "    if (number < (this.#attempts.get(sessionKey) ?? 0)) return undefined;\n",
        to: "",
      },
      {
        file: "cluster/src/worker/feed-memory.ts",
        from: "if (!isEnded && feed.attempt < attempt) this.#remove(feed);",
        to: "if (!isEnded && feed.attempt < 0) this.#remove(feed);",
      },
    ],
    found: /^zombies: attempt /,
  },
  commit: {
    what: "an answer is stored in the step that makes it, before the journal has it",
    edits: [
      {
        file: `${restate}run/steps.ts`,
        from: `        if (about.kind === "model") return { result: done };\n`,
        to: `        if (about.kind === "model") {
          const { message } = JSON.parse(JSON.stringify(done));
          await log.append([{ key: transcript.nextKey, body: { type: "message", runId, message } }]);
          return { result: done };
        }
`,
      },
      {
        file: `${restate}run/transcript.ts`,
        from: "  get messages(): readonly AgentMessage[] {\n",
        to: `  get nextKey(): string {
    return \`\${this.#runId}:\${this.#count}\`;
  }

  get messages(): readonly AgentMessage[] {
`,
      },
    ],
    found: /^(?:transcripts: the model was shown an answer|streams: .*text of turn)/,
  },
  guess: {
    what: "the estimated tokens of an answer are kept in memory only",
    edits: [
      {
        file: "core/src/agent/run/model-call.ts",
        from: "  isStarted = false;\n",
        to: "  isStarted = false;\n  guess: number | undefined;\n",
      },
      {
        file: "core/src/agent/run/model-call.ts",
        from: "      ...(isCounted && { guess }),\n",
        to: "      ...((this.guess = isCounted ? guess : undefined), {}),\n",
      },
      {
        file: "core/src/agent/run/model-call.ts",
        from: "settle(isUnsent ? undefined : billedUsage(message), guess);",
        to: "settle(isUnsent ? undefined : billedUsage(message), call.guess);",
      },
    ],
    found:
      /^(?:rest: .*invocation is left|messages: the run .* ended with (?:interrupted|error)|bills: the run .* and its budget is)/,
  },
} as const satisfies Readonly<Record<string, Breakage>>;

export type BreakageName = keyof typeof breakages;

export function isBreakage(name: string): name is BreakageName {
  return Object.hasOwn(breakages, name);
}

const root = join(import.meta.dirname, "../..");
/** The packages that a copy has of its own. */
const own = new Set(["@bowline", "bowline"]);

/** Creates a broken copy of the sources in a temporary folder. Throws if a text to break is gone. */
export function breakCopy({ edits }: Breakage): Disposable & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "bowline-broken-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    copySources(folder);
    for (const edit of edits)
      writeFileSync(join(folder, "packages", edit.file), brokenSource(edit, folder));
    return { folder, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Returns the source of a file with the edit. Throws if the text to break is not there once. */
export function brokenSource({ file, from, to }: Edit, folder: string = root): string {
  const source = readFileSync(join(folder, "packages", file), "utf8");
  if (source.split(from).length !== 2)
    throw new Error(`${file} no longer has the text that is to be broken, once: ${from.trim()}`);
  return source.replace(from, () => to);
}

function copySources(folder: string): void {
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  for (const part of ["cluster/kit", "cluster/drill", "cluster/package.json", "test/support"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "cluster/node_modules"), join(folder, "cluster/node_modules"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@bowline"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")))
    if (!own.has(name)) symlinkSync(join(root, "node_modules", name), join(modules, name));
  for (const name of readdirSync(join(root, "packages"))) {
    const from = join(root, "packages", name);
    const to = join(folder, "packages", name);
    for (const part of ["package.json", "src"])
      if (existsSync(join(from, part)))
        cpSync(join(from, part), join(to, part), { recursive: true });
    if (existsSync(join(from, "node_modules")))
      symlinkSync(join(from, "node_modules"), join(to, "node_modules"));
    symlinkSync(to, join(modules, name === "bowline" ? name : `@bowline/${name}`));
  }
}
