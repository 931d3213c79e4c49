/** Opens a connection to NATS. */
import { connect, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { NatsOptions } from "./nats-options.ts";

const DEFAULT_SERVER = "127.0.0.1:4222";
const SILENT =
  "it did not answer in time. Does it want TLS, or has it a certificate that this process does not trust?";

const names: Readonly<Record<keyof NatsOptions, true>> = {
  servers: true,
  user: true,
  pass: true,
  token: true,
  credentials: true,
  tls: true,
  name: true,
  inboxPrefix: true,
  timeoutMs: true,
};

/**
 * Connects to NATS, and reconnects for ever once it was connected. Rejects with `invalid_argument` for
 * an unknown option, and with `connection_failed` if the first connection fails.
 */
export async function openNats(options: NatsOptions): Promise<NatsConnection> {
  checkNames(options, Object.keys(names));
  const { servers, credentials, timeoutMs: timeout, inboxPrefix, ...others } = options;
  try {
    return await connect({
      ...others,
      ...(servers !== undefined && { servers: [servers].flat() }),
      ...(credentials !== undefined && {
        authenticator: credsAuthenticator(new TextEncoder().encode(credentials)),
      }),
      ...(inboxPrefix !== undefined && { inboxPrefix }),
      ...(timeout !== undefined && { timeout }),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 10_000,
      // A worker hears the attempts of others on its own subjects, not its own events.
      noEcho: true,
      ignoreAuthErrorAbort: true,
    });
  } catch (error) {
    const said = error instanceof Error ? error.message : "unknown";
    const why = said === "timeout" ? SILENT : `${said}.`;
    const place = placesOf(servers);
    throw new BowlineError("connection_failed", `NATS${place} cannot be reached: ${why}`, {
      cause: error,
      retryable: true,
    });
  }
}

/** Returns the addresses without what may be secret in them. */
function placesOf(servers: NatsOptions["servers"] = DEFAULT_SERVER): string {
  const hosts = [servers].flat().map((server) => {
    const url = server.includes("://") ? server : `nats://${server}`;
    return URL.canParse(url) ? new URL(url).host : "";
  });
  return hosts.includes("") ? "" : ` at ${hosts.join(", ")}`;
}
