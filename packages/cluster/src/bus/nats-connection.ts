/** The options of a connection to NATS, and opening one. */
import { connect, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";

export interface NatsOptions {
  /** Addresses of servers, such as `nats://10.0.0.7:4222`. Default `127.0.0.1:4222`. */
  readonly servers?: string | readonly string[];
  readonly user?: string;
  /** The password of `user`. */
  readonly pass?: string;
  readonly token?: string;
  /** The content of a credentials file (JWT and seed). */
  readonly credentials?: string;
  /** Demands TLS. The files are read by each connection. Default: TLS if the server demands it. */
  readonly tls?: {
    readonly caFile?: string;
    readonly certFile?: string;
    readonly keyFile?: string;
  };
  /** The name that the server shows for this connection. */
  readonly name?: string;
  /** The first part of the subjects of replies. Default `_INBOX`. */
  readonly inboxPrefix?: string;
  /** Time limit of the first connection, in milliseconds. Default 20,000. */
  readonly timeoutMs?: number;
}

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
    const why = error instanceof Error ? error.message : "unknown";
    throw new BowlineError("connection_failed", `NATS cannot be reached: ${why}.`, {
      cause: error,
      retryable: true,
    });
  }
}
