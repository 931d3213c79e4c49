/**
 * The parts of `@bowline/cluster` that the command uses. The package depends on this one, so its own
 * types cannot be imported here; a type test of that package compares the two.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { CommandError } from "../../command-error.ts";
import type { ListedAgents } from "../../gateway/agents/agent-options.ts";
import type { GatewayLimits } from "../../gateway/protocol/limits.ts";
import type { FrontOptions } from "../../gateway/server/options.ts";
import type { Rules } from "../../policy/rules.ts";
import type { Role } from "./config-fields.ts";

/** The file of a cluster as it was read: a part of the options of `createCluster`. */
export interface ClusterConfig {
  readonly role?: Role;
  readonly postgres: {
    readonly connectionString?: string;
    readonly config?: {
      readonly host?: string;
      readonly port?: number;
      readonly database?: string;
      readonly user?: string;
      readonly password?: string;
      readonly ssl?:
        | boolean
        | {
            readonly ca?: string;
            readonly cert?: string;
            readonly key?: string;
            readonly servername?: string;
            readonly rejectUnauthorized?: boolean;
          };
      readonly max?: number;
    };
    readonly schema?: string;
    readonly migrations?: "automatic" | "manual";
    readonly retryMs?: number;
    readonly timeoutMs?: number;
    readonly pollMs?: number;
  };
  readonly restate: {
    readonly ingress: string;
    readonly admin?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly serviceName?: string;
    readonly worker?: {
      readonly host?: string;
      readonly port: number;
      readonly url?: string;
      readonly register?: boolean;
      readonly identityKeys?: readonly string[];
    };
  };
  readonly nats: {
    readonly servers?: readonly string[];
    readonly user?: string;
    readonly pass?: string;
    readonly token?: string;
    readonly credentials?: string;
    readonly tls?: {
      readonly caFile?: string;
      readonly certFile?: string;
      readonly keyFile?: string;
    };
    readonly name?: string;
    readonly inboxPrefix?: string;
    readonly timeoutMs?: number;
  };
  readonly prefix?: string;
  readonly maxRunsPerUser?: number;
  readonly limits?: Partial<
    Pick<
      GatewayLimits,
      | "maxConnections"
      | "maxStrangers"
      | "maxQueuedRuns"
      | "maxTurns"
      | "approvalTimeoutMs"
      | "runTimeoutMs"
    >
  >;
  readonly drain?: { readonly notReadyMs?: number; readonly graceMs?: number };
}

interface Readiness {
  readonly isReady: boolean;
  readonly parts: readonly {
    readonly name: "postgres" | "restate" | "nats" | "worker";
    readonly isReady: boolean;
    readonly message?: string;
  }[];
}

export interface RunningCluster {
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  ready(): Promise<Readiness>;
  drain(options?: { graceMs?: number }): Promise<void>;
  close(reason?: string): Promise<void>;
}

type CreateOptions = FrontOptions &
  ListedAgents &
  Omit<ClusterConfig, "drain"> & { readonly rules: Rules; readonly workspacePath: string };

type Part<T> =
  | ({ readonly isReady: true } & T)
  | { readonly isReady: false; readonly message: string };

export interface ClusterStatus {
  readonly isReady: boolean;
  readonly postgres: Part<{
    readonly version: string;
    readonly connections: number;
    readonly maxConnections: number;
    readonly runs: { readonly queued: number; readonly running: number };
    readonly openApprovals: number;
  }>;
  readonly restate: Part<{
    readonly version?: string;
    readonly nodes?: number;
    readonly deployments?: readonly {
      readonly url: string;
      readonly openRuns: number;
      readonly isCurrent: boolean;
    }[];
    readonly failing?: readonly {
      readonly sessionId: string;
      readonly attempts: number;
      readonly failure: string;
    }[];
  }>;
  readonly nats: Part<{ readonly version: string; readonly servers: readonly string[] }>;
}

export interface ClusterPackage {
  createCluster(options: CreateOptions): Promise<RunningCluster>;
  readClusterStatus(
    parts: Pick<ClusterConfig, "postgres" | "restate" | "nats">,
  ): Promise<ClusterStatus>;
}

/** Throws `CommandError` if the package is not installed. */
export async function loadClusterPackage(): Promise<ClusterPackage> {
  try {
    // As a string, because the compiler would look for the types of a literal.
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
    return (await import("@bowline/cluster" as string)) as ClusterPackage;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CommandError(
      "The packages for a cluster are not installed. Install them beside bowline: npm install @bowline/cluster @bowline/postgres @bowline/restate (with -g if bowline was installed with -g).",
      { cause: error },
    );
  }
}
