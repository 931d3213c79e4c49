/**
 * The tools that a project adds. They run without a question unless a rule names them: a skill is
 * text of a trusted folder, and a sub-agent's own calls are asked about.
 */
export const projectTools: ReadonlySet<string> = new Set(["skill", "agent"]);
