/** The user's own slash commands: Markdown files that become a message. */
import { showPath } from "../escape.ts";
import type { DefinitionFile } from "./definitions.ts";
import { listField, parseFrontMatter, textField } from "./front-matter.ts";
import type { Owner } from "./skills.ts";
import { toolRules, type ToolRule } from "./tool-rules.ts";

export interface UserCommand {
  /** Without the slash. Names of folders are joined with colons: `git:log`. */
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** `provider/model` for this message. */
  readonly model?: string;
  /**
   * The only calls that the message may lead to. It never allows a call that the permissions would
   * ask about.
   */
  readonly allowedTools?: readonly ToolRule[];
  readonly body: string;
  readonly path: string;
  readonly owner: Owner;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}$/u;
const MAX_DESCRIPTION = 300;

/** Returns undefined, after a notice, for a file that is no command. */
export function parseCommand(
  { path, names, text }: DefinitionFile,
  owner: Owner,
  notice: (text: string) => void,
): UserCommand | undefined {
  const refuse = (why: string): undefined => {
    notice(`${showPath(path)} is not used: ${why}.`);
  };
  if (!names.every((name) => NAME.test(name))) return refuse("its name cannot be typed");
  const file = parseFrontMatter(text);
  if (file === undefined) return refuse("its front matter is not YAML");
  if (file.body === "") return refuse("it is empty");
  const [firstLine = ""] = file.body.split("\n");
  const description = textField(file, "description") ?? firstLine.replace(/^#+\s*/, "");
  const argumentHint =
    textField(file, "argument-hint") ?? listField(file, "argument-hint")?.join(" ");
  const model = textField(file, "model");
  const { rules, unknown } = toolRules(listField(file, "allowed-tools") ?? []);
  for (const rule of unknown)
    notice(`${showPath(path)}: ${JSON.stringify(rule)} in allowed-tools is no rule.`);
  const isNarrowed = Object.hasOwn(file.fields, "allowed-tools");
  return {
    name: names.join(":"),
    description: description.slice(0, MAX_DESCRIPTION),
    body: file.body,
    path,
    owner,
    ...(argumentHint !== undefined && argumentHint !== "" && { argumentHint }),
    ...(model !== undefined && model !== "inherit" && { model }),
    ...(isNarrowed && { allowedTools: rules }),
  };
}
