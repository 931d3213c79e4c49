/**
 * The TypeScript blocks of a seed as programs: each is type-checked by itself, run against a
 * loopback server, and looked at.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loopback, type Handler, type Loopback } from "../loopback.ts";
import type { SentBody } from "./answers.ts";
import { createPrograms, type Programs } from "./programs.ts";
import { missing, seedBlocks } from "./seed-blocks.ts";

export interface BlockProgram {
  /** The title of its test. */
  readonly title: string;
  /** The blocks it is made of, counted from 0 among the seed's TypeScript blocks. */
  readonly blocks: readonly number[];
  /** The names that the block leaves out. */
  readonly before?: string;
  /** What shows its effect. */
  readonly after?: string;
  /** What is changed in the block: a statement put in between, or what stands where code has to. */
  readonly edit?: (block: string) => string;
  /** What the compiler says of the program without `edit`. */
  readonly unedited?: RegExp;
  /** Whether it is only run: an implementation, which is not a user's code. */
  readonly unchecked?: boolean;
  /** What the server says, request by request. */
  readonly answers?: readonly Handler[];
  /** Exactly what the program prints. */
  readonly prints: string;
  readonly asks?: (requests: readonly SentRequest[]) => void;
}

export interface SentRequest extends Pick<Loopback["requests"][number], "url" | "headers"> {
  readonly body: SentBody;
}

export interface BlockSuite {
  /** The seed's number. */
  readonly seed: string;
  /** Folders of `packages/` whose packages the programs import beside core. */
  readonly packages?: readonly string[];
  /** Module specifiers of the seed, and what stands for them. */
  readonly specifiers: readonly (readonly [RegExp, string])[];
  readonly programs: readonly BlockProgram[];
  /** Why blocks are no program, by their number. */
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
