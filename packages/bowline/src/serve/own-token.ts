/** The tokens of a server: those of the environment, else one of its own. */
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { BowlineError } from "@bowline/core";
import type { Tokens } from "../gateway/access/tokens.ts";
import { set } from "../defined.ts";

/** A token, and where it is from. */
export interface OwnToken {
  readonly token: string;
  /** A variable, or the file in which the one that was made is kept. */
  readonly tokenFrom: { readonly variable: "BOWLINE_TOKEN" } | { readonly file: string };
}

export function tokensOf(full: string, read: string | undefined): Tokens {
  if (read === full)
    throw new BowlineError(
      "invalid_argument",
      "BOWLINE_READ_TOKEN must not be the same as BOWLINE_TOKEN.",
    );
  return { full, ...(read !== undefined && { read }) };
}

/**
 * The environment's, else one that is made once and kept, so that pages that are open find back
 * after a restart.
 */
export async function tokenOf(
  { BOWLINE_TOKEN }: Readonly<Record<string, string | undefined>>,
  file: string,
): Promise<OwnToken> {
  const own = set(BOWLINE_TOKEN);
  if (own !== undefined) return { token: own, tokenFrom: { variable: "BOWLINE_TOKEN" } };
  const tokenFrom = { file };
  const kept = set(await readFile(file, "utf8").catch(() => ""));
  if (kept !== undefined) return { token: kept, tokenFrom };
  const token = randomBytes(24).toString("base64url");
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  return { token, tokenFrom };
}
