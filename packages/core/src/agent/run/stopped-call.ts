/** The texts, for the model, of calls that began and were stopped. They tell what happened. */
import { errorText } from "../../errors.ts";
import { joinTexts } from "../../llm/message.ts";
import { failedCall, type AgentToolResult, type SettledCall } from "../contract/tool-result.ts";

/** Known when a call is stopped. */
export interface Stopped {
  /** Why the tool was signalled to stop. */
  readonly why: string;
  readonly durationMs: number;
  /** The last progress that the tool reported. */
  readonly progress: AgentToolResult | undefined;
}

/** Returns the result of a tool that threw after it was signalled to stop. */
export function stoppedCall(error: unknown, about: Stopped): SettledCall {
  const text = errorText(error);
  // A tool that tells how it was stopped, and gives its output, is taken at its word.
  if (/\bstopped after \d/.test(text)) return failedCall(text, "stopped");
  const { why } = about;
  const own = isAbort(error) ? "" : text.replace(why, "").trim();
  const parts = [`The tool was stopped after ${seconds(about)}.`, sentence(why), own];
  return failedCall(parts.filter(Boolean).join(" ") + outputOf(about, own), "stopped");
}

/** Returns the result of a tool that did not stop. */
export function leftRunning(about: Stopped): SettledCall {
  return failedCall(
    `${sentence(about.why)} The tool was left running after ${seconds(about)} and may still take effect.${outputOf(about, "")}`,
    "left_running",
  );
}

/** Returns whether an error says no more than that there was an abort. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function seconds({ durationMs }: Stopped): string {
  return durationMs < 1000 ? "less than 1 s" : `${(durationMs / 1000).toFixed(1)} s`;
}

function outputOf({ progress }: Stopped, said: string): string {
  const output = joinTexts(progress?.content ?? [], "\n").trimEnd();
  return output === "" || said.includes(output) ? "" : ` Its output until then:\n${output}`;
}
