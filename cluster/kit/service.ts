/** A process of the kit that can be started again after it was killed, on the same ports. */
import { ManagedProcess, type ProcessOptions } from "./managed-process.ts";

export type Kind = "restate" | "nats" | "postgres" | "balancer" | "gateway" | "worker";

/** One process of a system, for tests that kill it. */
export interface Handle {
  /** Unique in its system, such as `worker-2`. */
  readonly name: string;
  readonly kind: Kind;
  /** The process id. Throws while it is not running. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** The last part of its output. */
  readonly log: string;
  /** Starts it on its data and its ports, and waits until it answers. Does nothing while it runs. */
  start(): Promise<void>;
  /** Kills it with SIGKILL, and waits for its end. Does nothing unless it runs. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for its end. After `limitMs` (default 40,000) it is killed: `false`. */
  terminate(limitMs?: number): Promise<boolean>;
  /** Freezes it with SIGSTOP: its connections stay open and nothing answers. */
  stop(): void;
  /** Ends {@link stop}. */
  continue(): void;
}

export interface ServiceOptions {
  readonly kind: Kind;
  readonly process: ProcessOptions;
  readonly isReady: () => Promise<boolean>;
  /** How long it may take to be ready, in milliseconds. Default 30,000. */
  readonly readyMs?: number;
}

const TERMINATE_MS = 40_000;

export class Service implements Handle, AsyncDisposable {
  readonly name: string;
  readonly kind: Kind;
  readonly #options: ServiceOptions;
  #process: ManagedProcess | undefined;

  constructor(options: ServiceOptions) {
    this.name = options.process.name;
    this.kind = options.kind;
    this.#options = options;
  }

  get pid(): number {
    return this.#running().pid;
  }

  get isRunning(): boolean {
    return this.#process?.hasEnded === false;
  }

  get log(): string {
    return this.#process?.log ?? "";
  }

  async start(): Promise<void> {
    if (this.isRunning) return;
    const { process: options, isReady, readyMs } = this.#options;
    this.#process = new ManagedProcess(options);
    await this.#process.whenReady(isReady, readyMs);
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async terminate(limitMs = TERMINATE_MS): Promise<boolean> {
    const running = this.#running();
    running.signal("SIGTERM");
    const hasEnded = await running.whenEnded(limitMs);
    await running.kill();
    return hasEnded;
  }

  stop(): void {
    this.#running().signal("SIGSTOP");
  }

  continue(): void {
    this.#running().signal("SIGCONT");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #running(): ManagedProcess {
    if (this.#process === undefined || !this.isRunning)
      throw new Error(`${this.name} is not running.`);
    return this.#process;
  }
}
