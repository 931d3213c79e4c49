/**
 * The settings of bowline.json as one table, from which checking, the JSON schema and the table in
 * docs/projects.md are made.
 */

/** Whose file it is. Local means the project's file that is not shared. */
export type SettingsScope = "user" | "project" | "local";

/** A rule for calls. See docs/permissions for the text. */
export type PermissionEntry =
  | string
  | {
      readonly rule: string;
      /** Calls that the rule must cover. Checked when the rule is loaded. */
      readonly match?: readonly string[];
      /** Calls that the rule must not cover. */
      readonly notMatch?: readonly string[];
    };

interface PermissionSettings {
  readonly allow?: readonly PermissionEntry[];
  readonly ask?: readonly PermissionEntry[];
  readonly deny?: readonly PermissionEntry[];
}

/** An MCP server, as `mcpServers` of the settings has it. `.mcp.json` may have other tools' fields. */
export interface ServerEntry {
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
}

/** The events for which hooks run. */
export const hookEvents = [
  "PreToolUse",
  "PostToolUse",
  "UserPromptSubmit",
  "Stop",
  "SessionStart",
] as const;
export type HookEvent = (typeof hookEvents)[number];

/** A program to run at an event. */
export interface HookCommand {
  readonly type: "command";
  /** For bash, in the project's folder. */
  readonly command: string;
  /** Seconds. Default 60. */
  readonly timeout?: number;
}

export interface HookGroup {
  /** Names of tools, or of sources of a session. Absent: all. */
  readonly matcher?: string;
  readonly hooks: readonly HookCommand[];
}

export type HookSettings = { readonly [E in HookEvent]?: readonly HookGroup[] };

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingSetting = (typeof thinkingLevels)[number];

/** From the loosest to the strictest. */
export const sandboxModes = ["off", "auto", "required"] as const;
export type SandboxMode = (typeof sandboxModes)[number];

export interface Settings {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  /** Variables of keys by the address of the server that receives them. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly thinking?: ThinkingSetting;
  readonly permissions?: PermissionSettings;
  readonly tools?: readonly string[];
  readonly excludeTools?: readonly string[];
  readonly sandbox?: SandboxMode;
  readonly mcpServers?: Readonly<Record<string, ServerEntry>>;
  readonly hooks?: HookSettings;
  readonly appendSystem?: string;
  readonly compactAt?: number;
  readonly screenReader?: boolean;
}

export type SettingName = keyof Settings;

type SettingType =
  | { readonly kind: "text" }
  | { readonly kind: "address" }
  | { readonly kind: "variable" }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "number"; readonly least: number; readonly most: number }
  | { readonly kind: "switch" }
  | { readonly kind: "names" }
  | { readonly kind: "keys" }
  | { readonly kind: "permissions" }
  | { readonly kind: "servers" }
  | { readonly kind: "hooks" };

export interface Setting {
  readonly type: SettingType;
  /** The files that may contain it. */
  readonly allowedIn: "every file" | "your own file";
  /** Whether `${NAME}` in the text is replaced by a variable of the environment. */
  readonly hasVariables?: boolean;
  readonly help: string;
}

export const settingTable: Readonly<Record<SettingName, Setting>> = {
  model: {
    type: { kind: "text" },
    allowedIn: "every file",
    hasVariables: true,
    help: "The model, as `provider/model`, or an id of the server at `baseUrl`.",
  },
  baseUrl: {
    type: { kind: "address" },
    allowedIn: "every file",
    hasVariables: true,
    help: "Address of the model server. An address from a project gets no key unless `keys` of your own file names one for it.",
  },
  apiKeyEnv: {
    type: { kind: "variable" },
    allowedIn: "your own file",
    help: "The environment variable that holds the key for `model` or `baseUrl` of the same file.",
  },
  keys: {
    type: { kind: "keys" },
    allowedIn: "your own file",
    help: "Environment variables of keys, by the address of the server that may receive them.",
  },
  thinking: {
    type: { kind: "choice", values: thinkingLevels },
    allowedIn: "every file",
    help: "How much the model thinks before it answers.",
  },
  permissions: {
    type: { kind: "permissions" },
    allowedIn: "every file",
    help: "Rules for calls of tools, in the lists `allow`, `ask` and `deny`. The lists of all files are joined.",
  },
  tools: {
    type: { kind: "names" },
    allowedIn: "every file",
    help: "The tools that the model gets. Default: all.",
  },
  excludeTools: {
    type: { kind: "names" },
    allowedIn: "every file",
    help: "Tools that the model does not get.",
  },
  sandbox: {
    type: { kind: "choice", values: sandboxModes },
    allowedIn: "every file",
    help: "Whether commands run in a sandbox: `off`, `auto` (if the system has one) or `required`. A project can only make it stricter.",
  },
  mcpServers: {
    type: { kind: "servers" },
    allowedIn: "every file",
    hasVariables: true,
    help: "MCP servers by name, whose tools the model gets. A project's variables may not look like secrets. See docs/mcp-servers.",
  },
  hooks: {
    type: { kind: "hooks" },
    allowedIn: "every file",
    help: "Programs that run before and after tools, at a message, and at the end of a run. See docs/hooks.",
  },
  appendSystem: {
    type: { kind: "text" },
    allowedIn: "every file",
    hasVariables: true,
    help: "Text to add to the end of the system prompt.",
  },
  compactAt: {
    type: { kind: "number", least: 10, most: 95 },
    allowedIn: "every file",
    help: "Percentage of the model's context at which a long conversation is summarised.",
  },
  screenReader: {
    type: { kind: "switch" },
    allowedIn: "your own file",
    help: "Whether the conversation is plain lines without redrawing.",
  },
};

export const settingNames = Object.keys(settingTable) as SettingName[];
