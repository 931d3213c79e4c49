/** Skills: folders with a SKILL.md, whose body the model loads when it needs it. */
import { dirname } from "node:path";
import { showPath } from "../escape.ts";
import { oneLine } from "../terminal.ts";
import type { DefinitionFile } from "./definitions.ts";
import { parseFrontMatter, textField } from "./front-matter.ts";

export type Owner = "user" | "project";

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The absolute path of SKILL.md. */
  readonly path: string;
  readonly folder: string;
  readonly owner: Owner;
  /** Whether the model may choose it. If not, only the user can name it. */
  readonly isOffered: boolean;
  readonly body: string;
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;

/** Returns undefined, after a notice, for a file that does not follow the convention. */
export function parseSkill(
  { path, names, text }: DefinitionFile,
  owner: Owner,
  notice: (text: string) => void,
): Skill | undefined {
  const refuse = (why: string): undefined => {
    notice(`${showPath(path)} is not used: ${why}.`);
  };
  const file = parseFrontMatter(text);
  if (file === undefined) return refuse("its front matter is not YAML");
  const folderName = names.at(-1) ?? "";
  const name = textField(file, "name");
  if (name === undefined) return refuse("it has no name");
  if (!NAME.test(name) || name.length > MAX_NAME)
    return refuse(
      `the name ${JSON.stringify(oneLine(name, 80))} is not made of at most ${MAX_NAME} lower-case letters, digits and single hyphens`,
    );
  if (name !== folderName)
    return refuse(`its name ${name} is not that of its folder, ${oneLine(folderName, 80)}`);
  const description = textField(file, "description");
  if (description === undefined) return refuse("it has no description");
  if (description.length > MAX_DESCRIPTION)
    return refuse(`its description is longer than ${MAX_DESCRIPTION} characters`);
  return {
    name,
    description,
    path,
    folder: dirname(path),
    owner,
    isOffered: file.fields["disable-model-invocation"] !== true,
    body: file.body,
  };
}
