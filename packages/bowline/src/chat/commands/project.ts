/** Commands that files of the user or of a trusted project define, and skills as commands. */
import { expandCommand } from "../../project/expand-command.ts";
import type { Project } from "../../project/project.ts";
import { draftOf, type Draft } from "../../screen/editor/draft.ts";
import type { Chat } from "../chat.ts";

export function projectCommands(
  project: Project,
): readonly { readonly name: string; readonly description: string }[] {
  const commands = project.commands.map(({ name, description }) => ({ name, description }));
  const taken = new Set(commands.map(({ name }) => name));
  const skills = project.skills.filter(({ name }) => !taken.has(name));
  return [...commands, ...skills.map(({ name, description }) => ({ name, description }))];
}

/** Sends the text of a command or a skill as a message. Returns false if there is none. */
export async function projectCommand(name: string, args: string, chat: Chat): Promise<boolean> {
  const { project } = chat.world;
  const command = project.commands.find((one) => one.name === name);
  if (command !== undefined) {
    const { model, allowedTools } = command;
    if (allowedTools !== undefined && chat.isBusy) {
      chat.setDraft(`/${name} ${args}`.trimEnd());
      const text = `/${name} limits the tools and needs a pause: Esc interrupts what works.`;
      chat.dispatch({ type: "hint", text });
      return true;
    }
    if (model !== undefined)
      chat.notice(`/${name} names the model ${model}, which is not used. /model chooses one.`);
    const { text, notices } = await expandCommand(command, args, {
      root: project.root,
      whyNotRead(path) {
        const call = { tool: "read", args: { path } };
        const { action, rule, reason } = chat.world.permissions.judge(call);
        return action === "allow" || rule === undefined ? undefined : reason;
      },
    });
    for (const notice of notices) chat.notice(notice, "warning");
    chat.send(made(text), allowedTools);
    return true;
  }
  const skill = project.skills.find((one) => one.name === name);
  if (skill === undefined) return false;
  const task = args === "" ? "" : `\n\nThe task: ${args}`;
  chat.send(made(`Follow the skill ${skill.name} (${skill.folder}):\n\n${skill.body}${task}`));
  return true;
}

function made(text: string): Draft {
  return draftOf([{ type: "text", text, isMade: true }]);
}
