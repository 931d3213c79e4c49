/**
 * The options of a connection to NATS. In a file of their own, so that the published types need no
 * types of NATS.
 */

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
