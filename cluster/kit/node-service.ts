/** A gateway or a worker of a system, as one of its processes. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answersOk } from "./answers-ok.ts";
import type { Target } from "./balancer.ts";
import type { NodeSettings } from "./node.ts";
import type { Place } from "./place.ts";
import { Service } from "./service.ts";

export interface NodeOptions extends NodeSettings {
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly place: Place;
}

export class NodeService extends Service {
  /** Of the doors of a gateway; of the health checks of a worker. */
  readonly url: string;
  readonly #settings: NodeSettings;

  constructor({ name, folder, env, place, ...settings }: NodeOptions) {
    const url = `http://${place.address}:${settings.port}`;
    super({
      kind: settings.role,
      process: {
        name,
        command: process.execPath,
        args: ["--conditions=@bowline/source", join(import.meta.dirname, "node.ts")],
        env: {
          NODE_SETTINGS: JSON.stringify(settings),
          NODE_COMPILE_CACHE: join(tmpdir(), "bowline-cluster-cache"),
          ...env,
        },
        folder,
        place,
      },
      isReady: () => answersOk(`${url}/ready`),
    });
    this.url = url;
    this.#settings = settings;
  }

  /** For a balancer in front of gateways. */
  get target(): Target {
    return { address: this.#settings.host, port: this.#settings.port, health: `${this.url}/ready` };
  }

  /** For a balancer in front of workers. */
  get workerTarget(): Target {
    const { host: address, workerPort: port = 0 } = this.#settings;
    return { address, port, health: `${this.url}/ready` };
  }
}
