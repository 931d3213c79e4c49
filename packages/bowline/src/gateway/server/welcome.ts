/** Creates the frame that answers the authentication of a client. */
import type { Access } from "../access/access.ts";
import { findAgent } from "../agents/agent-entry.ts";
import type { Welcome } from "../protocol/frame.ts";
import { toFrameError } from "../protocol/gateway-error.ts";
import { events, methods } from "../protocol/schema.ts";
import type { DoorContext } from "./methods.ts";

export async function createWelcome(
  context: DoorContext,
  connectionId: string,
  { scope, sessions }: Access,
): Promise<Welcome> {
  const { version } = context;
  const { maxFrameBytes, maxAuthFrameBytes, maxBufferedBytes, tickIntervalMs, ...limits } =
    context.limits;
  const { maxQueuedRuns, maxMessageLength, maxAttachments, maxAttachmentBytes } = limits;
  const agent = findAgent(await context.agents());
  let notice: string | undefined;
  const backend =
    agent &&
    (await context.backendFor(agent).catch((error: unknown) => {
      notice = context.filter.failure(toFrameError(error)).message;
      return undefined;
    }));
  notice ??= backend?.notice?.message;
  const isMade = agent !== undefined && backend === undefined && notice === undefined;
  const model = isMade ? await context.modelFor(agent) : backend?.model;
  return {
    type: "auth",
    ok: true,
    server: { name: "bowline", version, connectionId },
    scope,
    ...(sessions !== undefined && { sessions }),
    methods: Object.keys(methods),
    events: Object.keys(events),
    limits: {
      maxFrameBytes,
      maxAuthFrameBytes,
      maxBufferedBytes,
      tickIntervalMs,
      maxQueuedRuns,
      maxMessageLength,
      maxAttachments,
      maxAttachmentBytes,
    },
    model: {
      agentId: agent?.id ?? "",
      wanted: agent?.model ?? "",
      provider: model?.provider ?? "",
      model: model?.id ?? "",
      isPractice: backend?.isPractice ?? false,
    },
    ...(notice !== undefined && { notice }),
  };
}
