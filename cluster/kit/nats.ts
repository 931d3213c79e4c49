/** NATS servers on loopback: a single one, or several that form a cluster. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { accepts } from "./accepts.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { loopback, type Place } from "./place.ts";
import { Service } from "./service.ts";

/** The reason to skip tests of NATS, or false. */
export function natsIsMissing(): string | false {
  return natsProgram() === undefined
    ? "nats-server is not installed (apt-get install nats-server)"
    : false;
}

function natsProgram(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "nats-server")).find((file) => existsSync(file));
}

export interface NatsServerOptions {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Further arguments of the server. */
  readonly args?: readonly string[];
  /** Default: loopback. */
  readonly place?: Place;
}

export class Nats extends Service {
  readonly url: string;

  constructor({ name, folder, port, args = [], place = loopback }: NatsServerOptions) {
    const { address } = place;
    super({
      kind: "nats",
      process: {
        name,
        command: natsProgram() ?? "nats-server",
        args: ["--addr", address, "--port", String(port), ...args],
        folder,
        place,
      },
      isReady: () => accepts(port, address),
    });
    this.url = `nats://${address}:${port}`;
  }
}

export async function startNats(folder: string, args: readonly string[] = []): Promise<Nats> {
  console.error("cluster: starting NATS");
  const [port = 0] = await freePorts(1);
  const nats = new Nats({ name: "nats", folder, port, args });
  await nats.start();
  return nats;
}

/** Servers that pass messages on to each other. A client of one hears those of all. */
export async function createNatsCluster(
  folder: string,
  count: number,
  placeOf: (name: string) => Place = () => loopback,
): Promise<Nats[]> {
  const names = Array.from({ length: count }, (_, index) => `nats-${index + 1}`);
  const ports = await freePorts(count * 2);
  const routes = names.map(
    (name, index) => `nats://${placeOf(name).address}:${ports[count + index]}`,
  );
  return routes.map((route, index) => {
    const others = routes.filter((other) => other !== route).join(",");
    const cluster = ["--cluster_name", "bowline", "--cluster", route];
    const args = [...cluster, ...(others === "" ? [] : ["--routes", others])];
    const name = names[index] ?? "";
    return new Nats({ name, folder, port: ports[index] ?? 0, args, place: placeOf(name) });
  });
}
