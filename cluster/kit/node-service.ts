/** A gateway or a worker of a system, as one of its processes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answersOk } from "./answers-ok.ts";
import type { Target } from "./balancer.ts";
import type { NodeSettings } from "./node.ts";
import type { Place } from "./place.ts";
import { Service } from "./service.ts";
import { commandLine } from "./serving.ts";

export interface NodeOptions extends Omit<NodeSettings, "agentModule"> {
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly place: Place;
  /** Default: the process is `bowline serve --cluster`, with the agents of its workspace. */
  readonly agentModule: string | undefined;
}

export class NodeService extends Service {
  /** Of the doors of a gateway; of the health checks of a worker. */
  readonly url: string;
  readonly #options: NodeOptions;

  constructor(options: NodeOptions) {
    const { name, role, port, folder, place } = options;
    const url = `http://${place.address}:${port}`;
    const { args, env } = options.agentModule === undefined ? serving(options) : own(options);
    super({
      kind: role,
      process: {
        name,
        command: process.execPath,
        args,
        env: {
          NODE_COMPILE_CACHE: join(tmpdir(), "bowline-cluster-cache"),
          ...env,
          ...options.env,
        },
        folder,
        place,
      },
      isReady: () => answersOk(`${url}/ready`),
    });
    this.url = url;
    this.#options = options;
  }

  /** For a balancer in front of gateways. */
  get target(): Target {
    const { host: address, port } = this.#options;
    return { address, port, health: `${this.url}/ready` };
  }

  /** For a balancer in front of workers. */
  get workerTarget(): Target {
    const { host: address, workerPort: port = 0 } = this.#options;
    return { address, port, health: `${this.url}/ready` };
  }
}

interface Line {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `node.ts` with the agents of a module. */
function own(options: NodeOptions): Line {
  const { role, host, port, agentModule = "", token, addresses, workerPort } = options;
  const settings: NodeSettings = {
    role,
    host,
    port,
    agentModule,
    token,
    addresses,
    ...(workerPort !== undefined && { workerPort }),
  };
  return {
    args: ["--conditions=@bowline/source", join(import.meta.dirname, "node.ts")],
    env: { NODE_SETTINGS: JSON.stringify(settings) },
  };
}

/** `bowline serve`, with its file in the folder. */
function serving({ name, role, port, folder, token, addresses, workerPort }: NodeOptions): Line {
  const { postgres, ingress, admin, nats, worker: url } = addresses;
  const worker = workerPort === undefined ? {} : { worker: { port: workerPort, url } };
  const config = join(folder, `${name}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      role,
      postgres: { connectionString: postgres },
      restate: { ingress, admin, ...worker },
      nats: { servers: nats },
    }),
  );
  return {
    args: [...commandLine, "serve", "--cluster", config, "--port", String(port)],
    env: { BOWLINE_TOKEN: token, BOWLINE_HOME: join(folder, `${name}-data`) },
  };
}
