/** The tokens of a server: from the environment, or a generated one. */
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { BowlineError } from "@bowline/core";
import type { Tokens } from "../gateway/access/tokens.ts";
import { set } from "../defined.ts";

/** A token and its source. */
export interface OwnToken {
  readonly token: string;
  /** The variable, or the file that stores the generated token. */
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
 * Returns the environment's token, or one that is generated once and stored. Stored, so that open
 * pages can reconnect after a restart.
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
