/** Finds and reads the files that the user and a project bring. Nothing of them takes effect by this. */
import { join } from "node:path";
import { showPath } from "../escape.ts";
import { readProjectSettings, type ProjectSettingsFile } from "../settings/settings.ts";
import type { ItemKind, TrustItem } from "../trust/trust-store.ts";
import { parseCommand, type UserCommand } from "./commands.ts";
import {
  createAllowance,
  findMarkdown,
  findSkillFiles,
  type DefinitionFile,
} from "./definitions.ts";
import { shownFrom, type Place } from "./place.ts";
import { readHookFiles, type HookFile } from "./hook-files.ts";
import { readServerFile, SERVER_FILE, type ServerFile } from "./server-files.ts";
import { parseSkill, type Owner, type Skill } from "./skills.ts";
import { parseSubAgent, type SubAgent } from "./sub-agents.ts";

type DefinitionKind = Extract<ItemKind, "command" | "skill" | "agent">;

export interface OwnedFile {
  readonly kind: DefinitionKind;
  readonly owner: Owner;
  readonly file: DefinitionFile;
}

/** The folders of definitions, in rising precedence. */
const projectFolders: readonly (readonly [DefinitionKind, string])[] = [
  ["command", ".claude/commands"],
  ["command", ".bowline/commands"],
  ["skill", ".claude/skills"],
  ["skill", ".agents/skills"],
  ["agent", ".claude/agents"],
  ["agent", ".bowline/agents"],
];
const DEPTH = 4;

export interface BroughtFiles {
  readonly items: readonly TrustItem[];
  readonly settings: readonly ProjectSettingsFile[];
  readonly files: readonly OwnedFile[];
  /** `.mcp.json`, if there is one. */
  readonly servers: ServerFile | undefined;
  /** The hooks in files of Claude Code. */
  readonly hooks: readonly HookFile[];
}

/** Reads the files of a project that would take effect. Nothing of them takes effect by this. */
export async function readProjectFiles(
  { root, folders }: Place,
  notice: (text: string) => void,
): Promise<BroughtFiles> {
  const items: TrustItem[] = [];
  const settings = await readProjectSettings(root);
  for (const { path, name, file } of settings) {
    if (file.kind === "refused") notice(`${showPath(path)} ${file.why}.`);
    if (file.kind === "text") items.push({ path: name, kind: "settings", hash: file.hash });
  }
  const servers = await readServerFile(root, notice);
  if (servers !== undefined) items.push({ path: SERVER_FILE, kind: "servers", hash: servers.hash });
  const hooks = await readHookFiles(root, notice);
  items.push(...hooks.map(({ name, hash }) => ({ path: name, kind: "hooks" as const, hash })));
  const files: OwnedFile[] = [];
  const allowance = createAllowance();
  for (const folder of folders)
    for (const [kind, name] of projectFolders) {
      const options = {
        folder: join(folder, name),
        within: root,
        depth: DEPTH,
        allowance,
        notice,
      };
      const found = await (kind === "skill" ? findSkillFiles(options) : findMarkdown(options));
      for (const file of found) {
        files.push({ kind, owner: "project", file });
        items.push({ path: shownFrom(root, file.path), kind, hash: file.hash });
      }
    }
  return { items, settings, files, servers, hooks };
}

export async function readUserFiles(
  config: string,
  home: string,
  notice: (text: string) => void,
): Promise<OwnedFile[]> {
  const folders: readonly (readonly [DefinitionKind, string])[] = [
    ["command", join(config, "commands")],
    ["skill", join(home, ".agents", "skills")],
    ["skill", join(config, "skills")],
    ["agent", join(config, "agents")],
  ];
  const allowance = createAllowance();
  const files: OwnedFile[] = [];
  for (const [kind, folder] of folders) {
    const options = { folder, within: undefined, depth: DEPTH, allowance, notice };
    const found = await (kind === "skill" ? findSkillFiles(options) : findMarkdown(options));
    files.push(...found.map((file) => ({ kind, owner: "user" as const, file })));
  }
  return files;
}

export interface Definitions {
  readonly skills: readonly Skill[];
  readonly commands: readonly UserCommand[];
  readonly agents: readonly SubAgent[];
}

/** Of several with one name the last counts: that of the nearest folder. */
export function parseAll(files: readonly OwnedFile[], notice: (text: string) => void): Definitions {
  const skills = new Map<string, Skill>();
  const commands = new Map<string, UserCommand>();
  const agents = new Map<string, SubAgent>();
  const add = <T extends { readonly name: string; readonly path: string }>(
    known: Map<string, T>,
    one: T | undefined,
  ): void => {
    if (one === undefined) return;
    const before = known.get(one.name);
    if (before !== undefined)
      notice(`${showPath(one.path)} replaces ${showPath(before.path)} of the same name.`);
    known.set(one.name, one);
  };
  for (const { kind, owner, file } of files) {
    switch (kind) {
      case "skill":
        add(skills, parseSkill(file, owner, notice));
        break;
      case "command":
        add(commands, parseCommand(file, owner, notice));
        break;
      case "agent":
        add(agents, parseSubAgent(file, owner, notice));
        break;
    }
  }
  return {
    skills: [...skills.values()],
    commands: [...commands.values()],
    agents: [...agents.values()],
  };
}
