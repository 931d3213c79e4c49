/** Opens the tools of `bowline run` and what decides about their calls. */
import type { AgentTool } from "@bowline/core";
import type { Discovered } from "../models/discover.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { ownFolders } from "../home.ts";
import type { Servers } from "../mcp/servers.ts";
import { loadPermissions } from "../policy/load-permissions.ts";
import type { Approver, RunSetup } from "../record/run-setup.ts";
import { styleFor } from "../terminal.ts";
import { openSandbox, sandboxStatus } from "../tools/index.ts";
import { createApprover } from "./approve.ts";
import type { Terminal } from "./ask.ts";
import { openOutputFolder, type OutputFolder } from "./output-folder.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunProject } from "./run-project.ts";
import { createRunTools, createSubAgent, withoutAskingForProjectTools } from "./run-tools.ts";

export interface ToolsHost {
  readonly found: Discovered;
  readonly host: NodeJS.Process;
  readonly terminal: Terminal | undefined;
  readonly tell: (line: string) => void;
  readonly onInterrupt: () => void;
  readonly setup: () => RunSetup;
  readonly servers: Servers;
  readonly hooks: Hooks;
}

export interface OpenedTools {
  /** Returns the tools as they are now. */
  readonly tools: () => AgentTool[];
  readonly approve: Approver;
  readonly outputs: OutputFolder;
}

/**
 * Opens the tools of the run and what decides about their calls. Throws `UsageError` for a name that
 * no tool has.
 */
export async function openRunTools(
  options: RunOptions,
  { project }: RunProject,
  { found, host, terminal, tell, onInterrupt, setup, servers, hooks }: ToolsHost,
): Promise<OpenedTools> {
  const { env, stderr } = host;
  const { directory, settings } = project;
  const { merged } = settings;
  const permissions = await loadPermissions({
    directory,
    env,
    trust: project.settingsTrust,
    searchesHide: true,
  });
  for (const notice of permissions.notices) tell(notice);
  const asks = createApprover({
    yes: options.yes,
    permissions,
    style: styleFor(stderr, env),
    onInterrupt,
    ...(terminal !== undefined && { terminal }),
  });
  const approve = hooks.approver(withoutAskingForProjectTools(asks, permissions));
  const sandbox = await openSandbox({
    choice: merged.sandbox ?? "off",
    root: directory,
    readOnly: ownFolders(env),
  });
  if (sandbox.kind !== "off") tell(sandboxStatus(sandbox));
  const outputs = await openOutputFolder(env, options.keep !== "none");
  try {
    const tools = createRunTools({
      project,
      env,
      servers,
      hooks,
      outputFolder: outputs.path,
      sandbox,
      hidden: (tool) => permissions.hidden({ tool }),
      only: options.tools.length > 0 ? options.tools : (merged.tools ?? []),
      without: [...options.excludeTools, ...(merged.excludeTools ?? [])],
      startSubAgent: (start) => createSubAgent(start, { project, setup, found, approve, env }),
    });
    return { tools, approve, outputs };
  } catch (error) {
    await outputs.close();
    throw error;
  }
}
