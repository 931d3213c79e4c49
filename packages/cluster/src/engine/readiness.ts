/** Asks each part of a process whether it can serve. The answers name no addresses. */
import type { PostgresStore } from "@bowline/postgres";
import type { Readiness, ReadyPart } from "bowline/engine";
import type { Bus } from "../bus/bus.ts";
import type { ClusterWorker } from "./worker.ts";

/** How long a part may take to answer, in milliseconds. */
const PART_MS = 2500;
/** How long an answer holds, in milliseconds: anyone may ask. */
const HOLD_MS = 500;

export interface ReadinessParts {
  readonly store: Pick<PostgresStore, "durable">;
  readonly bus: Bus;
  /** The address of Restate's ingress. */
  readonly ingress: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly worker: ClusterWorker | undefined;
}

export class ReadinessCheck {
  readonly #parts: ReadinessParts;
  #asked: { readonly at: number; readonly answer: Promise<readonly ReadyPart[]> } | undefined;
  /** Whether the process is about to stop. */
  isDraining = false;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async ready(): Promise<Readiness> {
    const now = performance.now();
    if (this.#asked === undefined || now - this.#asked.at > HOLD_MS)
      this.#asked = { at: now, answer: this.#ask() };
    const parts = await this.#asked.answer;
    if (this.isDraining) return { isReady: false, message: "draining", parts };
    return { isReady: parts.every(({ isReady }) => isReady), parts };
  }

  #ask(): Promise<readonly ReadyPart[]> {
    const { store, bus, ingress, headers, worker } = this.#parts;
    const url = `${ingress.replace(/\/$/, "")}/restate/health`;
    return Promise.all([
      part("postgres", async () => void (await store.durable.countRuns())),
      part("restate", async () => {
        const response = await fetch(url, { headers, signal: AbortSignal.timeout(PART_MS) });
        await response.arrayBuffer();
        if (!response.ok) throw new Error("not healthy");
      }),
      part("nats", () => (bus.isConnected ? bus.flush() : Promise.reject(new Error("lost")))),
      ...(worker === undefined ? [] : [Promise.resolve(worker.readiness)]),
    ]);
  }
}

async function part(name: ReadyPart["name"], ask: () => Promise<void>): Promise<ReadyPart> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ReadyPart>((resolve) => {
    const message = "no answer in time";
    timer = setTimeout(() => resolve({ name, isReady: false, message }), PART_MS);
  });
  const asked = ask().then(
    (): ReadyPart => ({ name, isReady: true }),
    (): ReadyPart => ({ name, isReady: false, message: "does not answer" }),
  );
  const answer = await Promise.race([asked, late]);
  clearTimeout(timer);
  return answer;
}
