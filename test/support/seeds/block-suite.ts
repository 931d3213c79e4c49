/**
 * Runs the TypeScript blocks of a seed as programs: each is type-checked separately, run against a
 * loopback server, and its output compared.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loopback, type Handler, type Loopback } from "../loopback.ts";
import type { SentBody } from "./answers.ts";
import { createPrograms, type Programs } from "./programs.ts";
import { missing, seedBlocks } from "./seed-blocks.ts";

export interface BlockProgram {
  /** Title of the test. */
  readonly title: string;
  /** Indexes of its blocks, from 0 among the seed's TypeScript blocks. */
  readonly blocks: readonly number[];
  /** Code before the block, for names that the block uses but does not declare. */
  readonly before?: string;
  /** Code after the block that shows its effect. */
  readonly after?: string;
  /** Edits the block: adds a statement, or replaces a placeholder with code. */
  readonly edit?: (block: string) => string;
  /** Matches the compiler's errors without `edit`. */
  readonly unedited?: RegExp;
  /** Skips the type check, for an implementation that is not user code. Default false. */
  readonly unchecked?: boolean;
  /** The server's answers, one per request. */
  readonly answers?: readonly Handler[];
  /** The exact output of the program. */
  readonly prints: string;
  readonly asks?: (requests: readonly SentRequest[]) => void;
}

export interface SentRequest extends Pick<Loopback["requests"][number], "url" | "headers"> {
  readonly body: SentBody;
}

export interface BlockSuite {
  /** Number of the seed. */
  readonly seed: string;
  /** Folders in `packages/` whose packages the programs import besides core. */
  readonly packages?: readonly string[];
  /** Module specifiers of the seed and their replacements. */
  readonly specifiers: readonly (readonly [RegExp, string])[];
  readonly programs: readonly BlockProgram[];
  /** Block number to the reason why it is not run. */
  readonly leftOut: Readonly<Record<number, string>>;
}

export function testBlocks({
  seed,
  packages = [],
  specifiers,
  programs: table,
  leftOut,
}: BlockSuite): void {
  const blocks = seedBlocks(seed).filter(({ language }) => language === "typescript");
  const codeOf = (
    { blocks: used, before: prelude = "", after: rest = "", edit }: BlockProgram,
    isEdited: boolean,
  ): string => {
    const given = used.map((index) => blocks[index]?.code ?? "").join("");
    const code = specifiers.reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), given);
    return `${prelude}${isEdited && edit !== undefined ? edit(code) : code}${rest}`;
  };

  describe(`the code of seed ${seed}`, { skip: missing ?? false, concurrency: 2 }, () => {
    let programs: Programs | undefined;
    let errors: ReadonlyMap<string, readonly string[]>;

    before(async () => {
      if (table.length === 0) return;
      programs = await createPrograms(...packages);
      for (const [index, program] of table.entries()) {
        await programs.add(`program-${index}`, codeOf(program, true));
        if (program.unedited !== undefined)
          await programs.add(`unedited-${index}`, codeOf(program, false));
      }
      errors = await programs.check();
    });
    after(() => programs?.[Symbol.asyncDispose]());

    it("is run completely, or a part is left out for a stated reason", () => {
      const known = [
        ...table.flatMap((program) => program.blocks),
        ...Object.keys(leftOut).map(Number),
      ];
      assert.deepEqual(
        [...new Set(known)].toSorted((a, b) => a - b),
        [...blocks.keys()],
      );
    });

    for (const [
      index,
      { title, answers = [], prints, asks, unedited, unchecked = false },
    ] of table.entries()) {
      it(title, async () => {
        if (!unchecked) assert.deepEqual(errors.get(`program-${index}`), undefined);
        if (unedited !== undefined)
          assert.match(errors.get(`unedited-${index}`)?.join("\n") ?? "", unedited);
        await using server = await loopback(...answers);
        const { code, stdout, stderr } = await programs!.run(
          `program-${index}`,
          new URL(server.baseUrl).origin,
        );
        assert.equal(stdout, prints, stderr);
        assert.equal(code, 0, stderr);
        assert.equal(server.requests.length, answers.length);
        asks?.(
          server.requests.map(({ url, headers, body }) => ({
            url,
            headers,
            body: JSON.parse(body) as SentBody,
          })),
        );
      });
    }
  });
}
