/** Sends events as a `Response` of server-sent events. */
import type { Clock } from "../../clock.ts";
import type { AgentEvent } from "../contract/event.ts";
import { toResponseEvent } from "./response-event.ts";
import { sseResponse } from "./sse-response.ts";

export interface ResponseOptions {
  /**
   * Converts an event to the JSON value to send. Undefined sends nothing. Default: to a {@link
   * ResponseEvent}, which leaves out server-side data.
   */
  readonly toData?: ((event: AgentEvent) => unknown) | undefined;
  /** Additional headers. `content-type` and `cache-control` are always set. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

export function toResponse(
  batches: AsyncGenerator<readonly AgentEvent[], void, undefined>,
  clock: Clock,
  { toData = toResponseEvent, headers }: ResponseOptions = {},
): Response {
  return sseResponse(batches, clock, (event) => toFrame(toData(event)), headers);
}

function toFrame(data: unknown): string {
  return data === undefined ? "" : `data: ${JSON.stringify(data)}\n\n`;
}
