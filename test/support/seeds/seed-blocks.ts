/**
 * Reads the fenced blocks of the seeds from outside the repository, so that none of their text is
 * copied into it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export interface SeedBlock {
  /** The language of the fence, such as `typescript`. */
  readonly language: string;
  /** Line number of the fence, from 1. */
  readonly line: number;
  readonly code: string;
}

const folder: string =
  process.env.BOWLINE_SEEDS ?? resolve(import.meta.dirname, "../../..", "../shared/seeds");

/** Why the seeds are missing, or undefined. */
export const missing: string | undefined = existsSync(folder)
  ? undefined
  : `no seeds in ${folder}: set BOWLINE_SEEDS to the folder that holds them`;

/**
 * Returns the blocks of the seed whose file name begins with this number, in order, or none when
 * the folder is absent.
 */
export function seedBlocks(number: string): SeedBlock[] {
  if (missing !== undefined) return [];
  const file = readdirSync(folder).find((name) => name.startsWith(`${number}_`));
  if (file === undefined) throw new Error(`no seed ${number} in ${folder}`);
  const text = readFileSync(join(folder, file), "utf8");
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(
    ({ index, 1: indent = "", 2: language = "", 3: code = "" }) => ({
      language,
      line: text.slice(0, index).split("\n").length,
      code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );
}
