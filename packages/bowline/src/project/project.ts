/**
 * What a folder brings to a command: instructions, settings, servers, hooks, skills, commands,
 * sub-agents and facts. Until a user trusts the folder, only its instructions count, as text.
 */
import { homedir, release, type } from "node:os";
import { join } from "node:path";
import type { AgentTool } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { configFolder } from "../home.ts";
import { showPath } from "../escape.ts";
import type { ProjectTrust } from "../policy/load-permissions.ts";
import { loadSettings, type LoadedSettings } from "../settings/settings.ts";
import {
  compareTrust,
  createTrustStore,
  type TrustedFolder,
  type TrustItem,
  type TrustState,
} from "../trust/trust-store.ts";
import { createSubAgentTool, type SubAgentPorts } from "./agent-tool.ts";
import type { UserCommand } from "./commands.ts";
import { readGitFacts, type GitFacts } from "./git-facts.ts";
import { hooksOf, type HookSource } from "./hook-files.ts";
import { createInstructions, type Instruction } from "./instructions.ts";
import { findPlace, shownFrom } from "./place.ts";
import { programsOf } from "./programs.ts";
import { parseAll, readProjectFiles, readUserFiles } from "./project-files.ts";
import { serversOf, type ServerSetting } from "./server-files.ts";
import { createSkillTool } from "./skill-tool.ts";
import type { Skill } from "./skills.ts";
import type { SubAgent } from "./sub-agents.ts";
import { instructionText, joinPrompt, type PromptParts } from "./system-prompt.ts";

/** A stranger's folder could have thousands of files to complain about. */
const MAX_NOTICES = 20;

export interface Project {
  /** The git root, else the working directory. A real path. */
  readonly root: string;
  /** The working directory. A real path. */
  readonly directory: string;
  readonly trust: TrustState;
  /** What is new, different or gone since the folder was trusted. */
  readonly changes: readonly string[];
  /** The files that take effect, or would if the folder were trusted. */
  readonly wouldTakeEffect: readonly TrustItem[];
  /** The servers and hooks in these files, one line each. */
  readonly programs: readonly string[];
  readonly instructions: readonly Instruction[];
  readonly settings: LoadedSettings;
  readonly skills: readonly Skill[];
  readonly commands: readonly UserCommand[];
  readonly agents: readonly SubAgent[];
  /** The MCP servers that take effect. */
  readonly servers: readonly ServerSetting[];
  /** The hooks that take effect, by the file that has them. */
  readonly hooks: readonly HookSource[];
  /** Lines for a person. */
  readonly notices: readonly string[];
  /** The user's trust in the settings files, for the rules in them. */
  readonly settingsTrust: ProjectTrust;
  systemPrompt(options: {
    readonly tools: readonly string[];
    readonly system?: string;
    readonly appendSystem?: string;
    /** Default true. */
    readonly hasInstructions?: boolean;
  }): string;
  /** Returns the tool `skill`, and with `ports` the tool `agent`, as far as there are any. */
  tools(ports?: SubAgentPorts): AgentTool[];
  /**
   * Returns the text of instructions that apply to a file below the working directory and were not
   * given yet. Undefined if there are none.
   */
  readonly instructionsFor: (path: string) => Promise<string | undefined>;
}

export interface LoadProjectOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: `HOME`, else the system's home directory of the user. */
  readonly home?: string;
  /** Trust the folder for this run. */
  readonly isTrusted?: boolean;
  readonly now: Date;
}

/**
 * Rejects with `CommandError` for broken settings that take effect, and with the system's error for
 * an unusable directory.
 */
export async function loadProject(options: LoadProjectOptions): Promise<Project> {
  const { directory, env, isTrusted = false, now } = options;
  const home = options.home ?? (env.HOME || homedir());
  const place = await findPlace(directory);
  const config = configFolder(env);
  const notices: string[] = [];
  let unseen = 0;
  const notice = (text: string): void => {
    if (notices.length < MAX_NOTICES) notices.push(text);
    else unseen++;
  };
  const git = readGitFacts({ root: place.root, env });
  const instructions = createInstructions({ place, configFolder: config, notice });
  const loaded = await instructions.load();
  const brought = await readProjectFiles(place, notice);
  const known = await trustedAs(place.root, env, notice);
  const compared = compareTrust(known, brought.items);
  const trust = isTrusted ? "trusted" : compared.state;
  const why = trust === "trusted" ? undefined : notInEffect(trust, compared.changes);
  const settings = await loadSettings({
    configFolder: config,
    project: brought.settings,
    env,
    ...(why !== undefined && { whyNotProject: why }),
  });
  const own = await readUserFiles(config, home, notice);
  const files = trust === "trusted" ? [...own, ...brought.files] : own;
  const { skills, commands, agents } = parseAll(files, notice);
  const isInEffect = trust === "trusted";
  const servers = serversOf(settings.sources, isInEffect ? brought.servers : undefined, notice);
  const hooks = hooksOf(settings.sources, isInEffect ? brought.hooks : [], notice);
  if (unseen > 0) notices.push(`${unseen} more files were left out.`);
  notices.push(...settings.notices);
  if (why !== undefined)
    notices.push(untrustedText(place.root, trust, brought.items, compared.changes));
  const facts = factsOf(place.directory, now, await git);
  return {
    root: place.root,
    directory: place.directory,
    trust,
    changes: compared.changes,
    wouldTakeEffect: brought.items,
    programs: programsOf(brought),
    instructions: loaded,
    settings,
    skills,
    commands,
    agents,
    servers,
    hooks,
    notices,
    settingsTrust: settingsTrust(options.env, place.root, trust, brought.items),
    systemPrompt: ({ hasInstructions = true, ...parts }) =>
      joinPrompt({ facts, instructions: hasInstructions ? loaded : [], skills, ...parts }),
    tools(ports) {
      const offered = skills.filter(({ isOffered }) => isOffered);
      return [
        ...(offered.length > 0 ? [createSkillTool(offered)] : []),
        ...(agents.length > 0 && ports !== undefined ? [createSubAgentTool(agents, ports)] : []),
      ];
    },
    async instructionsFor(path) {
      return instructionText(await instructions.below(path)) || undefined;
    },
  };
}

function factsOf(directory: string, now: Date, git: GitFacts | undefined): PromptParts["facts"] {
  return {
    date: now.toISOString().slice(0, 10),
    system: `${type()} ${release()}`,
    directory,
    ...(git !== undefined && { git }),
  };
}

/** A broken list of trusted folders makes every folder untrusted, but a command can go on. */
async function trustedAs(
  root: string,
  env: LoadProjectOptions["env"],
  notice: (text: string) => void,
): Promise<TrustedFolder | undefined> {
  try {
    return (await createTrustStore({ env }).list()).find(({ folder }) => folder === root);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    notice(error.message);
    return undefined;
  }
}

function settingsTrust(
  env: LoadProjectOptions["env"],
  root: string,
  trust: TrustState,
  items: readonly TrustItem[],
): ProjectTrust {
  return {
    covers: (path, hash) =>
      trust === "trusted" &&
      items.some((item) => item.hash === hash && join(root, item.path) === path),
    async changed(path, before, hash) {
      if (trust !== "trusted") return;
      const item: TrustItem = { path: shownFrom(root, path), kind: "settings", hash };
      try {
        await createTrustStore({ env }).acceptChange(root, item, before);
      } catch (error) {
        // The rule is written. The next command asks whether to trust the file.
        if (!(error instanceof CommandError)) throw error;
      }
    },
  };
}

function notInEffect(trust: TrustState, changes: readonly string[]): string {
  return trust === "changed" ? `not trusted: ${changes.join(", ")}` : "the folder is not trusted";
}

function untrustedText(
  root: string,
  trust: TrustState,
  items: readonly TrustItem[],
  changes: readonly string[],
): string {
  const kinds = (["settings", "servers", "hooks", "command", "skill", "agent"] as const).flatMap(
    (kind) => {
      const count = items.filter((item) => item.kind === kind).length;
      if (count === 0) return [];
      return [kind.endsWith("s") ? kind : `${count} ${kind}${count === 1 ? "" : "s"}`];
    },
  );
  const what = kinds.length === 0 ? "The settings" : kinds.join(", ");
  const some = `${changes.slice(0, 5).map(showPath).join(", ")}${changes.length > 5 ? ", …" : ""}`;
  const since = trust === "changed" ? ` since you trusted it (${some})` : "";
  const verb = trust === "changed" ? "changed" : "is not trusted";
  return `${showPath(root)} ${verb}${since}. Not in effect: ${what}. To look at them and trust the folder, run bowline trust.`;
}
