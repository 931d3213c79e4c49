/** The hooks of `bowline run`: what they say, and where they may end or change the run. */
import { Hooks } from "../hooks/hooks.ts";
import { hookLine, type HookNews } from "../hooks/news.ts";
import type { Project } from "../project/project.ts";
import type { RunOptions } from "./run-options.ts";
import type { SideLog } from "./side-log.ts";

export interface RunHooksOptions {
  readonly options: Pick<RunOptions, "isQuiet" | "yes">;
  readonly project: Project;
  readonly log: SideLog;
  readonly sessionId: () => string;
}

export function createRunHooks(
  { options, project, log, sessionId }: RunHooksOptions,
  { env }: NodeJS.Process,
): Hooks {
  const { hooks: sources, root, directory } = project;
  const tell = (news: HookNews): void => {
    log.add(news);
    if (!options.isQuiet || news.status !== "message") log.say(hookLine(news));
  };
  const mode = (): "default" | "bypassPermissions" =>
    options.yes ? "bypassPermissions" : "default";
  return new Hooks({ sources, env, root, directory, sessionId, mode, tell });
}

/** What the hooks at the start of a run leave of it. */
export interface Admitted {
  readonly task: string;
  /** Text for the system prompt. Empty: none. */
  readonly context: string;
}

/**
 * Runs the hooks for the start of the session, then those for the task. Returns undefined if one of
 * them refused the task; a line has said so.
 */
export async function admit(
  hooks: Hooks,
  task: string,
  isResumed: boolean,
): Promise<Admitted | undefined> {
  const context = await hooks.sessionStarted(isResumed ? "resume" : "startup");
  if (task === "") return { task, context };
  const submitted = await hooks.submitted(task);
  if (submitted.block !== undefined) return undefined;
  const { context: more } = submitted;
  return { task: more === "" ? task : `${task}\n\n[context from a hook]\n${more}`, context };
}
