/**
 * Ports for servers that start later. They are below those that systems give to connections: one of
 * these could be in use by then, and a client that retries while no server listens could connect to
 * itself.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:net";

const LOWEST = 12_000;
const COUNT = 20_000;

/** Returns ports of 127.0.0.1 on which no server listens. `random` is at least 0 and below 1. */
export async function freePorts(
  count: number,
  random: () => number = Math.random,
): Promise<number[]> {
  const held = new Map<number, Server>();
  while (held.size < count) {
    const port = LOWEST + Math.floor(random() * COUNT);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      held.set(port, server);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  await Promise.all(
    [...held.values()].map((server) => {
      server.close();
      return once(server, "close");
    }),
  );
  return [...held.keys()];
}

/** Returns one such port. */
export async function freePort(random?: () => number): Promise<number> {
  const [port] = await freePorts(1, random);
  return port!;
}
