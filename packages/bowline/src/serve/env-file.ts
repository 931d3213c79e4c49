/** The settings of a `.env` file: names that this program knows, and no others. */
import { createReadStream } from "node:fs";
import { dirname, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { BowlineError, vendors, type Vendor } from "@bowline/core";
import { baseUrlVariable, vendorAddress } from "../models/vendor-address.ts";
import { createWorkspace, resolveInside } from "../tools/workspace.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A link may lead to what never ends. */
const MAX_BYTES = 1024 * 1024;

const own = ["TOKEN", "READ_TOKEN", "HOME", "HOST", "PORT", "WORKSPACE", "FALLBACK"].map(
  (name) => `BOWLINE_${name}`,
);

export interface Settings {
  /** The environment, and what the file adds to it. */
  readonly env: Environment;
  /**
   * What a person should know of the file: a sentence for each vendor whose key and address both
   * come from it.
   */
  readonly notices: readonly string[];
}

function knownNames(): ReadonlySet<string> {
  const ofVendors = vendors.flatMap((vendor) => [vendor.keyVariable, baseUrlVariable(vendor)]);
  return new Set([...own, ...ofVendors].filter((name) => name !== undefined));
}

/**
 * What is set already wins over the file. One that is not there adds nothing. Throws
 * `invalid_argument` for a file that takes more than a stranger's may.
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
      : `${baseUrlVariable(moved)} there would send the ${moved.keyVariable} of the environment elsewhere: set both in one place.`;
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
 * Who takes a stranger's folder for their own would tell their conversations to a stranger's
 * server.
 */
function movedNotice(vendor: Vendor, settings: Environment, file: string): string[] {
  const moved = vendorAddress(vendor, settings);
  if (moved === undefined) return [];
  const { origin } = new URL(moved.baseUrl);
  return [
    `${file}: ${moved.variable} there has the models of ${vendor.name} asked at ${origin}, which gets all that is said and read.`,
  ];
}

/**
 * The folder may be somebody else's work, and the file with it: it says neither what is allowed nor
 * what else can be read unasked.
 */
async function strangeFolder(settings: Environment, file: string): Promise<string | undefined> {
  const { BOWLINE_HOME: home = "", BOWLINE_WORKSPACE: workspace = "" } = settings;
  if (home.trim() !== "")
    return "BOWLINE_HOME is not taken from a file: what is allowed stands there. Set it in the environment.";
  if (workspace.trim() === "") return undefined;
  try {
    await resolveInside(createWorkspace({ root: dirname(file) }), resolve(workspace.trim()));
    return undefined;
  } catch {
    return "BOWLINE_WORKSPACE there leads out of its folder: set it in the environment, or name it with --workspace.";
  }
}
