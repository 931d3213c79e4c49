/** What a message says about its run besides its content: who sent it, and how it was accepted. */
import type { OwnedMessage } from "bowline/engine";

type User = NonNullable<OwnedMessage["user"]>;

export interface MessageMetadata {
  /** The person whose message the run answers. */
  readonly user?: User;
  /** The agent that answers. */
  readonly agentId?: string;
  /** The model that was chosen for the session, as `provider/model`. */
  readonly model?: string;
  /** Whether gateways sent the run's first event, because the message waited. */
  readonly isAnnounced?: boolean;
}

export function writeMetadata({
  user,
  agentId,
  model,
  isAnnounced,
}: {
  readonly [Name in keyof MessageMetadata]: MessageMetadata[Name] | undefined;
}): Readonly<Record<string, unknown>> {
  return {
    ...(user !== undefined && { user }),
    ...(agentId !== undefined && { agentId }),
    ...(model !== undefined && { model }),
    ...(isAnnounced === true && { isAnnounced }),
  };
}

/** Leaves out what is not of its type: another version may have written it. */
export function readMetadata(metadata: Readonly<Record<string, unknown>> = {}): MessageMetadata {
  const { user, agentId, model, isAnnounced } = metadata;
  return {
    ...(isUser(user) && { user }),
    ...(typeof agentId === "string" && { agentId }),
    ...(typeof model === "string" && { model }),
    ...(isAnnounced === true && { isAnnounced }),
  };
}

function isUser(value: unknown): value is User {
  if (typeof value !== "object" || value === null) return false;
  const { id, sessions } = value as Readonly<Record<string, unknown>>;
  return [id, sessions].every((part) => part === undefined || typeof part === "string");
}
