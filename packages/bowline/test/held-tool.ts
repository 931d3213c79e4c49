/** A tool that ends when `release` is called. */
import { defineTool, type AgentTool } from "@bowline/core";

export function heldTool(): { readonly tool: AgentTool; readonly release: () => void } {
  let release = (): void => {};
  const until = new Promise<void>((resolve) => (release = resolve));
  const execute = async (): Promise<string> => until.then(() => "waited");
  return {
    tool: defineTool({
      name: "wait",
      description: "Waits.",
      parameters: { type: "object" },
      execute,
    }),
    release,
  };
}
