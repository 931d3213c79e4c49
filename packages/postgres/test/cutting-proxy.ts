/**
 * A proxy before a server's Unix socket that cuts connections. It counts the statements that clients
 * send: the messages after which they wait for an answer.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface CuttingProxy extends AsyncDisposable {
  /** The folder of the proxy's socket, the host for clients. */
  readonly host: string;
  /** The number of statements so far. */
  readonly statements: number;
  /**
   * Cuts the connection of the `at`-th statement from now, from 1: before the server gets it, or
   * after the server has answered it and before the client has the answer.
   */
  cut(at: number, when: "before" | "after"): void;
}

/** `socket` is the path of the server's socket. */
export async function startProxy(socket: string): Promise<CuttingProxy> {
  const host = await mkdtemp(join(tmpdir(), "bowline-proxy-"));
  const open = new Set<Socket>();
  const plan = { statements: 0, at: 0, when: "before" };
  const server = createServer((client) => {
    const upstream = connect(socket);
    for (const one of [client, upstream]) {
      open.add(one);
      one
        .on("error", () => {})
        .on("close", () => {
          open.delete(one);
          client.destroy();
          upstream.destroy();
        });
    }
    const messages = new Messages();
    let isCutAfter = false;
    client.on("data", (bytes: Buffer) => {
      for (const message of messages.add(bytes)) {
        if (message.isStatement && ++plan.statements === plan.at) {
          if (plan.when === "before") return void client.destroy();
          isCutAfter = true;
        }
        upstream.write(message.bytes);
      }
    });
    const replies = new Messages(true);
    upstream.on("data", (bytes: Buffer) => {
      if (!isCutAfter) return void client.write(bytes);
      // Wait until the server is ready for the next statement, so that this one is done.
      if (replies.add(bytes).some(({ type }) => type === "Z")) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(join(host, ".s.PGSQL.5432"), resolve));
  return {
    host,
    get statements() {
      return plan.statements;
    },
    cut: (at, when) => void Object.assign(plan, { at: plan.statements + at, when }),
    async [Symbol.asyncDispose]() {
      for (const one of open) one.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(host, { recursive: true, force: true });
    },
  };
}

interface Message {
  readonly type: string;
  readonly bytes: Buffer;
  readonly isStatement: boolean;
}

/** Splits a stream into messages: a type, a length, a body. The first of a client has no type. */
class Messages {
  #rest = Buffer.alloc(0);
  #isTyped: boolean;

  constructor(isTyped = false) {
    this.#isTyped = isTyped;
  }

  add(bytes: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const found: Message[] = [];
    for (;;) {
      const at = this.#isTyped ? 1 : 0;
      if (this.#rest.length < at + 4) return found;
      const length = at + this.#rest.readInt32BE(at);
      if (this.#rest.length < length) return found;
      const message = this.#rest.subarray(0, length);
      const type = this.#isTyped ? String.fromCharCode(message[0] ?? 0) : "startup";
      this.#isTyped = true;
      this.#rest = this.#rest.subarray(length);
      // A simple query, and the end of an extended one.
      const isStatement = ["startup", "Q", "S"].includes(type);
      found.push({ type, bytes: message, isStatement });
    }
  }
}
