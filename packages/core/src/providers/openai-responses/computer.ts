/** Actions on a computer: calls of the server's own tool that the program runs. */
import { list } from "../../json-value.ts";
import type { ReplayResult } from "../replay.ts";

type Json = Record<string, unknown>;
type WireItem = Json & { readonly type: string };

/** The name of the tool for a computer, in transcripts. */
export const COMPUTER = "computer";
/** A screenshot must be sent even if an action failed: one transparent pixel, as PNG. */
const BLANK =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/**
 * Returns a call of the computer as a function call that holds the item, which goes back with the
 * call. Other items are returned unchanged, and so are all if the request did not declare the tool.
 * `isWhole` is false for an item that has only begun.
 */
export function asFunctionCall(item: Json, toolNames: readonly string[], isWhole: boolean): Json {
  if (item.type !== "computer_call" || !toolNames.includes(COMPUTER)) return item;
  const { id, call_id, status, action, actions, pending_safety_checks: checks } = item;
  const all = Array.isArray(actions) ? actions : action === undefined ? [] : [action];
  const args = JSON.stringify({ actions: all, pendingSafetyChecks: list(checks) });
  return {
    type: "function_call",
    name: COMPUTER,
    id,
    call_id,
    status,
    ...(isWhole && { arguments: args, computer: item }),
  };
}

/**
 * Encodes the result of a call. Its image is the screenshot; text follows as the user's. A result
 * that is no error acknowledges the safety checks.
 */
export function encodeScreenshot(
  { toolCallId, content, isError }: ReplayResult,
  { pending_safety_checks: checks }: Json,
): WireItem[] {
  const image = content.find((part) => part.type === "image");
  const data = `data:${image?.mimeType ?? "image/png"};base64,${image?.data ?? BLANK}`;
  const text = content.flatMap((part) =>
    part.type === "text" ? [{ type: "input_text", text: part.text }] : [],
  );
  return [
    {
      type: "computer_call_output",
      call_id: toolCallId,
      output: { type: "computer_screenshot", image_url: image?.url ?? data },
      ...(!isError && list(checks).length > 0 && { acknowledged_safety_checks: checks }),
    },
    ...(text.length > 0 ? [{ type: "message", role: "user", content: text }] : []),
  ];
}
