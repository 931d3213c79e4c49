/** The PostgreSQL server of a system as one of its processes. */
import { setTimeout } from "node:timers/promises";
import type { PostgresServer } from "../../test/support/postgres.ts";
import type { Handle } from "./service.ts";

const TERMINATE_MS = 40_000;

export class Postgres implements Handle {
  readonly name = "postgres";
  readonly kind = "postgres";
  readonly server: PostgresServer;

  constructor(server: PostgresServer) {
    this.server = server;
  }

  get pid(): number {
    const { pid } = this.server;
    if (pid === undefined) throw new Error("PostgreSQL is not running.");
    return pid;
  }

  get isRunning(): boolean {
    const { pid } = this.server;
    return pid !== undefined && isAlive(pid);
  }

  get log(): string {
    return this.server.log;
  }

  async start(): Promise<void> {
    if (!this.isRunning) await this.server.start();
  }

  kill(): Promise<void> {
    return this.server.crash();
  }

  /** A fast shutdown: it ends the sessions and waits for the checkpoint. */
  async terminate(limitMs = TERMINATE_MS): Promise<boolean> {
    process.kill(this.pid, "SIGINT");
    const end = performance.now() + limitMs;
    while (this.isRunning && performance.now() < end) await setTimeout(25);
    const hasEnded = !this.isRunning;
    await this.kill();
    return hasEnded;
  }

  stop(): void {
    this.server.signal("SIGSTOP");
  }

  continue(): void {
    this.server.signal("SIGCONT");
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
