/** The settings of a `.env` file: names that this program knows, and no others. */
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { vendors } from "@bowline/core";

type Environment = Readonly<Record<string, string | undefined>>;

const own = ["TOKEN", "READ_TOKEN", "HOME", "HOST", "PORT", "WORKSPACE", "FALLBACK"].map((name) => `BOWLINE_${name}`);

/** The variable that moves a vendor to another address, such as `ANTHROPIC_BASE_URL`; undefined for vendors without a key. */
export function baseUrlVariable(keyVariable: string | undefined): string | undefined {
  return keyVariable?.replace(/_(?:API_)?(?:KEY|TOKEN)$/, "_BASE_URL");
}

function knownNames(): ReadonlySet<string> {
  const ofVendors = vendors.flatMap(({ keyVariable }) => [keyVariable, baseUrlVariable(keyVariable)]);
  return new Set([...own, ...ofVendors].filter((name) => name !== undefined));
}

/** The environment, and what the file adds to it; what is set already wins. A file that is not there adds nothing. */
export async function withEnvFile(env: Environment, file: string): Promise<Environment> {
  const text = await readFile(file, "utf8").catch(() => "");
  const known = knownNames();
  const added = Object.entries(parseEnv(text)).filter(([name]) => known.has(name) && (env[name] ?? "").trim() === "");
  return { ...env, ...Object.fromEntries(added) };
}
