/** Converts the summary of a session for clients. */
import type { SessionSummary } from "@bowline/core/session";
import { referenceOf } from "../agents/choices.ts";
import type { RunInfo, SessionInfo } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

/** `runs` are the session's running and queued runs, in order. */
export function toSessionInfo(
  summary: SessionSummary,
  { filter, runs }: { readonly filter: SecretFilter; readonly runs: readonly RunInfo[] },
): SessionInfo {
  const { id, title, model, metadata, createdAt, updatedAt, messageCount, origin } = summary;
  const agentId = model?.agent ?? metadata?.agentId;
  return {
    sessionKey: id,
    ...(title !== undefined && { title: filter.text(title) }),
    ...(typeof agentId === "string" && { agentId }),
    ...(model !== undefined && model.model !== "" && { model: referenceOf(model) }),
    createdAt,
    updatedAt,
    messageCount,
    ...(origin !== undefined && { forkedFrom: origin.sessionId }),
    runs,
  };
}
