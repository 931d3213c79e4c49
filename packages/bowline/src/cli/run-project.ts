/** The folder in which `bowline run` works, with what it brings and the settings that count. */
import { CommandError } from "../command-error.ts";
import { set } from "../defined.ts";
import { loadProject, type Project } from "../project/project.ts";
import type { ThinkingSetting } from "../settings/keys.ts";
import { chooseServer, type ServerChoice, type ServerOptions } from "../settings/server-choice.ts";
import { oneLine } from "../terminal.ts";
import { createTrustStore } from "../trust/trust-store.ts";

export interface ProjectOptions extends ServerOptions {
  /** `--trust`. */
  readonly isTrusted: boolean;
  readonly thinking?: ThinkingSetting;
}

export interface RunProject {
  readonly project: Project;
  /** Model, server and key, from options and settings. */
  readonly server: ServerChoice;
  readonly thinking: ThinkingSetting;
  /** Lines for a person. */
  readonly notices: readonly string[];
}

/** Throws `CommandError` for broken settings. Trusts the folder if the options say so. */
export async function openProject(
  options: ProjectOptions,
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunProject> {
  const { isTrusted, thinking } = options;
  const project = await loadProject({ directory, env, isTrusted, now: new Date() });
  const server = chooseServer(options, project.settings, set(env.BOWLINE_MODEL));
  const stored = isTrusted ? await storeTrust(project, env) : [];
  return {
    project,
    server,
    thinking: thinking ?? project.settings.merged.thinking ?? "off",
    notices: [...stored, ...project.notices, ...server.notices],
  };
}

/** A run with `--trust` goes on if the list cannot be written, as in a read-only container. */
async function storeTrust(
  { root, wouldTakeEffect }: Project,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  try {
    await createTrustStore({ env }).trust(root, wouldTakeEffect);
    return [];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [`The folder is trusted for this run only. ${oneLine(error.message, 500)}`];
  }
}
