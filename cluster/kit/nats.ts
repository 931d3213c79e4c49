/** A NATS server on loopback. */
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { freePorts } from "./free-ports.ts";
import { ManagedProcess } from "./managed-process.ts";

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

export class Nats implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ManagedProcess | undefined;

  constructor(folder: string, port: number) {
    this.url = `nats://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#port = port;
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error("NATS is not running.");
    return this.#process.pid;
  }

  async start(): Promise<void> {
    const started = (this.#process = new ManagedProcess({
      name: "nats",
      command: natsProgram() ?? "nats-server",
      args: ["--addr", "127.0.0.1", "--port", String(this.#port)],
      folder: this.#folder,
    }));
    await started.whenReady(() => accepts(this.#port));
  }

  async crash(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.crash();
  }
}

export async function startNats(folder: string): Promise<Nats> {
  console.error("cluster: starting NATS");
  const [port = 0] = await freePorts(1);
  const nats = new Nats(folder, port);
  await nats.start();
  return nats;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
