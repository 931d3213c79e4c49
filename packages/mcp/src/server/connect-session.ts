/** Connects to a server in the way that it understands. */
import { BowlineError } from "@bowline/core";
import { Session, type SessionPorts } from "./session.ts";

/**
 * Tries the ways in which the server may be reached, one after the other. `opened` is told of each
 * session, connected or not. `before` is the former session, which is closed.
 */
export async function connectSession(
  ports: SessionPorts,
  before: Session | undefined,
  signal: AbortSignal,
  opened: (session: Session) => void,
): Promise<Session> {
  const { reach } = ports.config;
  const open = (kind: "stdio" | "http" | "sse"): Session => {
    const session = Session.create(ports, kind);
    opened(session);
    return session;
  };
  const era = before?.client.getProtocolEra();
  await before?.close();
  signal.throwIfAborted();
  const kind = reach.kind === "any" ? "http" : reach.kind;
  const first = open(kind);
  try {
    await first.connect(signal, kind === "sse" ? "legacy" : era);
    return first;
  } catch (error) {
    await first.close();
    if (signal.aborted) throw error;
    // Some servers end at a question that they do not know, others have SSE only.
    const isEnded = kind === "stdio" && era === undefined && first.end !== undefined;
    const isRefused = reach.kind === "any" && isRefusal(error);
    if (!isEnded && !isRefused) throw withEnd(error, first);
    const second = open(isRefused ? "sse" : kind);
    try {
      await second.connect(signal, "legacy");
      return second;
    } catch (late) {
      await second.close();
      throw isRefused ? error : withEnd(late, second);
    }
  }
}

/** Whether a server said that it does not speak streamable HTTP. */
function isRefusal(error: unknown): boolean {
  const status = (error as { readonly data?: { readonly status?: unknown } } | null)?.data?.status;
  return [400, 404, 405, 406, 415].includes(Number(status));
}

/** Replaces an error by how the server's process ended, and what it said last. */
export function withEnd(error: unknown, { end, stderr = "" }: Session): unknown {
  if (end === undefined) return error;
  const told = stderr.trim() === "" ? "" : ` Its last words: ${stderr.trim().slice(-1_000)}`;
  return new BowlineError("connection_failed", `The server's process ended: ${end}.${told}`);
}
