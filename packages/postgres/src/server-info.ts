/** What an operator wants to know of the server. */
import type { Database } from "./sql/database.ts";

export interface ServerInfo {
  /** Such as `17.2`. */
  readonly version: string;
  /** Connections of clients to the server, of all programs and databases. */
  readonly connections: number;
  /** The server's `max_connections`. */
  readonly maxConnections: number;
}

export async function readServerInfo(database: Database): Promise<ServerInfo> {
  const [row = {}] = await database.query(
    "Reading the state of the server",
    `select current_setting('server_version') as version,
      current_setting('max_connections') as max,
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as used`,
  );
  return {
    version: String(row.version).split(" ", 1)[0] ?? "",
    connections: Number(row.used),
    maxConnections: Number(row.max),
  };
}
