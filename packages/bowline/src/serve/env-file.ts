/** Reads the settings of a `.env` file. Only names known to this program are used. */
import { createReadStream } from "node:fs";
import { dirname, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { BowlineError, vendors, type Vendor } from "@bowline/core";
import { baseUrlVariable, vendorAddress } from "../models/vendor-address.ts";
import { createWorkspace, resolveInside } from "../tools/workspace.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Size limit, since the file may be a link to an endless one. */
const MAX_BYTES = 1024 * 1024;

const own = ["TOKEN", "READ_TOKEN", "HOME", "HOST", "PORT", "WORKSPACE", "FALLBACK"].map(
  (name) => `BOWLINE_${name}`,
);

export interface Settings {
  /** The environment plus the file's settings. */
  readonly env: Environment;
  /** Notices for a person: one for each vendor whose key and address both come from the file. */
  readonly notices: readonly string[];
}

function knownNames(): ReadonlySet<string> {
  const ofVendors = vendors.flatMap((vendor) => [vendor.keyVariable, baseUrlVariable(vendor)]);
  return new Set([...own, ...ofVendors].filter((name) => name !== undefined));
}

/**
 * Reads the file. Variables that are already set take precedence. A missing file adds nothing.
 * Throws `invalid_argument` for settings that are not allowed in a file, because the folder may
 * come from a stranger.
 */
export async function withEnvFile(env: Environment, file: string): Promise<Settings> {
  const written = await text(createReadStream(file, { end: MAX_BYTES - 1 })).catch(() => "");
  const known = knownNames();
  const isSet = (name = ""): boolean => (env[name] ?? "").trim() !== "";
  const added = Object.entries(parseEnv(written)).filter(
    ([name]) => known.has(name) && !isSet(name),
  );
  const settings: Environment = Object.fromEntries(added);
  const moved = vendors.find(
    (vendor) => isSet(vendor.keyVariable) && settings[baseUrlVariable(vendor) ?? ""],
  );
  const why =
    moved === undefined
      ? await strangeFolder(settings, file)
      : `${baseUrlVariable(moved)} in it would send the environment's ${moved.keyVariable} to another server. Set both in one place.`;
  if (why !== undefined) throw new BowlineError("invalid_argument", `${file}: ${why}`);
  const withKeys = vendors.filter(
    ({ keyVariable = "" }) => (settings[keyVariable] ?? "").trim() !== "",
  );
  return {
    env: { ...env, ...settings },
    notices: withKeys.flatMap((vendor) => movedNotice(vendor, settings, file)),
  };
}

/**
 * Returns a notice if the file moves a vendor. In a stranger's folder, conversations would go to a
 * stranger's server.
 */
function movedNotice(vendor: Vendor, settings: Environment, file: string): string[] {
  const moved = vendorAddress(vendor, settings);
  if (moved === undefined) return [];
  const { origin } = new URL(moved.baseUrl);
  return [
    `${file}: ${moved.variable} sends the requests for ${vendor.name} to ${origin}, which receives all messages and files that are read.`,
  ];
}

/**
 * Returns why the file's settings are refused, if they are. The folder, and so the file, may come
 * from a stranger. It must not set the policy or make other folders readable.
 */
async function strangeFolder(settings: Environment, file: string): Promise<string | undefined> {
  const { BOWLINE_HOME: home = "", BOWLINE_WORKSPACE: workspace = "" } = settings;
  if (home.trim() !== "")
    return "BOWLINE_HOME cannot be set in a file, because it contains the policy. Set it in the environment.";
  if (workspace.trim() === "") return undefined;
  try {
    await resolveInside(createWorkspace({ root: dirname(file) }), resolve(workspace.trim()));
    return undefined;
  } catch {
    return "BOWLINE_WORKSPACE leads out of the file's folder. Set it in the environment, or pass --workspace.";
  }
}
