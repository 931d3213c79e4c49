/** A harness for the cases of effects: an agent in a session, which each attempt continues. */
import { Agent } from "../../src/index.ts";
import type { RunResult } from "../../src/agent/index.ts";
import type { AgentMessage } from "../../src/agent/index.ts";
import type { Effects } from "../../src/agent/contract/effects.ts";
import {
  attachSession,
  createSession,
  openSession,
  type AgentSession,
  type AnyEntry,
  type SessionWriter,
  type Store,
} from "../../src/session/index.ts";
import type { AttemptSetup, EffectsHarness } from "../../src/testing/index.ts";

/** `createStore` returns an empty store. A new attempt gets a copy of what the last one has written. */
export function createSessionHarness(
  createStore: () => Store | Promise<Store>,
  dispose: () => unknown = () => {},
): EffectsHarness {
  let store: Store | undefined;
  let agent: Agent | undefined;
  let attached: AgentSession | undefined;
  let busy = 0;
  let runs = 0;
  const working = async <T>(work: () => Promise<T>): Promise<T> => {
    busy++;
    try {
      return await work();
    } finally {
      busy--;
    }
  };
  /** A writer of a process that writes nothing after its death. */
  const writerUntil = (stopped: AbortSignal, writer: SessionWriter): SessionWriter => {
    stopped.addEventListener("abort", () => void writer.close(), { once: true });
    return new Proxy(writer, {
      get(_, name) {
        if (name === "append")
          return (entries: AnyEntry[]) =>
            stopped.aborted ? new Promise(() => {}) : working(async () => writer.append(entries));
        const value: unknown = Reflect.get(writer, name);
        return typeof value === "function" ? (value.bind(writer) as unknown) : value;
      },
    });
  };

  async function attach({ config, tools, streamFn, stopped }: AttemptSetup): Promise<AgentSession> {
    const before = store;
    const made = await createStore();
    if (before !== undefined) {
      const entries: AnyEntry[] = [];
      for await (const batch of before.read("s", {})) entries.push(...batch);
      await (await made.create(await before.load("s"), entries)).close();
    }
    store = {
      ...made,
      create: async (...given) => writerUntil(stopped, await made.create(...given)),
      open: async (...given) => writerUntil(stopped, await made.open(...given)),
    };
    const options = { clock: config.clock };
    const session = await (before === undefined
      ? createSession(store, { id: "s", ...options })
      : openSession(store, "s", options));
    const createId = (): string => `run-${runs++}`;
    agent = new Agent({ ...config, tools, streamFn, createId });
    const own = await attachSession(agent, session);
    stopped.addEventListener("abort", () => void (agent = undefined), { once: true });
    return own;
  }

  return {
    replays: false,
    async attempt(setup): Promise<RunResult> {
      const { prompt, output, watch, onWait } = setup;
      const own = await working(() => attach(setup));
      attached = own;
      const live = agent as Agent;
      live.effects = watch(live.effects as Partial<Effects>);
      live.subscribe((event) => {
        if (event.type === "approval_request") onWait(event.approvalId);
      });
      const options = output === undefined ? {} : { output };
      const resumed = await own.resume(options);
      return resumed ?? live.prompt([prompt], options);
    },
    answer: (name, value) => void agent?.answer(name, value),
    async push(kind, message) {
      if (kind === "steering") agent?.steer(message);
      else agent?.followUp(message);
      await attached?.queued();
    },
    abort: () => agent?.abort(),
    async transcript() {
      const { session } = attached as AgentSession;
      const messages = await session.allMessages();
      await session.close();
      return messages as AgentMessage[];
    },
    isBusy: () => busy > 0,
    dispose,
  };
}
