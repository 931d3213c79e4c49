/** Sub-agents: Markdown files whose body is the system prompt of another agent. */
import { showPath } from "../escape.ts";
import { oneLine } from "../terminal.ts";
import type { DefinitionFile } from "./definitions.ts";
import { listField, parseFrontMatter, textField, type MarkdownFile } from "./front-matter.ts";
import type { Owner } from "./skills.ts";
import { toolRules, type ToolRule } from "./tool-rules.ts";

export interface SubAgent {
  readonly name: string;
  readonly description: string;
  /** The only calls that it may make. Absent: all of the caller's tools. */
  readonly tools?: readonly ToolRule[];
  readonly disallowedTools: readonly ToolRule[];
  /** `provider/model`. Absent: the caller's model. */
  readonly model?: string;
  readonly maxTurns?: number;
  readonly systemPrompt: string;
  readonly path: string;
  readonly owner: Owner;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_DESCRIPTION = 2000;
/** Names of models in files of Claude Code, which mean nothing at another vendor. */
const shortNames: ReadonlySet<string> = new Set(["sonnet", "opus", "haiku", "inherit", "default"]);

/** Returns undefined, after a notice, for a file that is no sub-agent. */
export function parseSubAgent(
  { path, names, text }: DefinitionFile,
  owner: Owner,
  notice: (text: string) => void,
): SubAgent | undefined {
  const tell = (what: string): void => notice(`${showPath(path)}${what}.`);
  const refuse = (why: string): undefined => {
    tell(` is not used: ${why}`);
  };
  const file = parseFrontMatter(text);
  if (file === undefined) return refuse("its front matter is not YAML");
  const name = textField(file, "name") ?? names.at(-1) ?? "";
  if (!NAME.test(name))
    return refuse(
      `the name ${JSON.stringify(oneLine(name, 80))} is not made of letters, digits, _ and -`,
    );
  const description = textField(file, "description");
  if (description === undefined) return refuse("it has no description");
  if (file.body === "") return refuse("it has no text, which would be the system prompt");
  const maxTurns = maxTurnsOf(file);
  if (maxTurns === "wrong") return refuse("maxTurns is not a whole number of at least 1");
  const only = listField(file, "tools");
  const allowed = toolRules(only ?? []);
  const denied = toolRules(listField(file, "disallowedTools") ?? []);
  for (const rule of [...allowed.unknown, ...denied.unknown])
    tell(`: ${JSON.stringify(rule)} names no tool`);
  const model = textField(file, "model");
  if (model !== undefined && !model.includes("/") && !shortNames.has(model))
    tell(`: the model ${JSON.stringify(oneLine(model, 80))} is not written as provider/model`);
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION),
    disallowedTools: denied.rules,
    systemPrompt: file.body,
    path,
    owner,
    ...(only !== undefined && { tools: allowed.rules }),
    ...(model?.includes("/") === true && { model }),
    ...(maxTurns !== undefined && { maxTurns }),
  };
}

function maxTurnsOf({ fields }: MarkdownFile): number | "wrong" | undefined {
  const { maxTurns } = fields;
  if (maxTurns === undefined || maxTurns === null) return undefined;
  return Number.isInteger(maxTurns) && Number(maxTurns) >= 1 ? Number(maxTurns) : "wrong";
}
