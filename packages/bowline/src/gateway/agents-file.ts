/** The agents of a workspace, as AGENTS.md lists them: a heading of the second level each, with a model and a description. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface AgentEntry {
  readonly id: string;
  /** `provider/model`. */
  readonly model: string;
  readonly description: string;
}

/** Asked when nobody says which. */
export const DEFAULT_AGENT = "assistant";

/** Sections without a `Model:` line are no agents. The first of several with one id counts. */
export function parseAgents(markdown: string): AgentEntry[] {
  const agents = new Map<string, AgentEntry>();
  for (const section of markdown.split(/^(?=#{1,6}\s)/m)) {
    const id = /^##\s+(.+?)\s*#*\s*$/m.exec(section.split(/\r?\n/, 1)[0] ?? "")?.[1];
    const model = field(section, "Model");
    if (id === undefined || model === undefined || agents.has(id)) continue;
    agents.set(id, { id, model, description: field(section, "Description") ?? "" });
  }
  return [...agents.values()];
}

export async function readAgents(workspacePath: string): Promise<AgentEntry[]> {
  return parseAgents(await readFile(join(workspacePath, "AGENTS.md"), "utf8").catch(() => ""));
}

/** The agent of this id; without one `assistant`, else the first. */
export function findAgent(agents: readonly AgentEntry[], id?: string): AgentEntry | undefined {
  if (id !== undefined) return agents.find((agent) => agent.id === id);
  return agents.find((agent) => agent.id === DEFAULT_AGENT) ?? agents[0];
}

function field(section: string, name: "Model" | "Description"): string | undefined {
  return new RegExp(`^\\s*(?:[-*]\\s+)?${name}:[ \\t]*(\\S.*?)\\s*$`, "mi").exec(section)?.[1];
}
