/**
 * A durable engine in memory, as strict as the real one: one wait at a time, closures that start only
 * during a wait, results in the order of the journal, and the same commands in each attempt.
 */
import type { Clock } from "@bowline/core";
import type { EngineContext, Handle, Outcome } from "../src/engine/context.ts";

const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms).unref();
    return () => clearTimeout(timer);
  },
};

interface Command {
  readonly kind: string;
  readonly name: string;
}

interface Notification {
  /** Index of the command. -1: the cancellation. */
  readonly index: number;
  readonly value?: unknown;
  readonly failure?: unknown;
}

const CANCELLATION = -1;

export class FakeEngine {
  readonly commands: Command[] = [];
  readonly notifications: Notification[] = [];
  readonly state = new Map<string, unknown>();
  /** Called before a result enters the journal. Returning true kills the attempt instead. */
  killsBefore: (name: string) => boolean = () => false;
  /** Called after a result has entered the journal. Returning true kills the attempt. */
  killsAfter: (name: string) => boolean = () => false;
  /** What ended attempts in another way than a kill. */
  readonly faults: string[] = [];
  readonly awakeables = new Map<string, number>();
  readonly sleeps = new Map<number, number>();
  /** For sleeps. */
  clock: Clock = systemClock;
  /** Called when state is set. */
  onSet: (name: string, value: unknown) => void = () => {};
  readonly key: string;
  attempts = 0;
  #attempt: FakeContext | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** Begins an attempt. The one before is over. */
  begin(): FakeContext {
    this.kill();
    this.attempts++;
    return (this.#attempt = new FakeContext(this));
  }

  kill(): void {
    this.#attempt?.end();
  }

  /** Whether the loop is at work. Otherwise it waits for a result. */
  get isBusy(): boolean {
    return this.#attempt?.isBusy === true;
  }

  /** Adds a result to the journal. */
  notify(notification: Notification): void {
    if (this.notifications.some(({ index }) => index === notification.index)) return;
    this.notifications.push(notification);
    this.#attempt?.wake();
  }

  cancel(): void {
    this.notify({ index: CANCELLATION });
  }

  resolve(awakeableId: string, value: unknown): void {
    this.notify({ index: this.awakeables.get(awakeableId) ?? NaN, value });
  }
}

interface FakeHandle extends Handle {
  readonly index: number;
}

export class FakeContext implements EngineContext {
  readonly key: string;
  readonly invocationId = "inv_1";
  readonly ended: AbortSignal;
  readonly #engine: FakeEngine;
  readonly #controller = new AbortController();
  readonly #closures = new Map<number, { name: string; work: () => Promise<Uint8Array> }>();
  readonly #ready: Notification[] = [];
  /** Rejects with what ended the attempt in another way than a kill. */
  readonly failed: Promise<never>;
  #failNow: (error: Error) => void = () => {};
  /** Resolves when the attempt is over. */
  readonly over: Promise<"over">;
  #next = 0;
  #read = 0;
  #isWaiting = false;
  #isAtRest = false;
  #wake = (): void => {};
  #endNow: (value: "over") => void = () => {};

  constructor(engine: FakeEngine) {
    this.#engine = engine;
    this.key = engine.key;
    this.ended = this.#controller.signal;
    this.over = new Promise((resolve) => (this.#endNow = resolve));
    this.failed = new Promise((_, reject) => (this.#failNow = reject));
    this.failed.catch(() => {});
  }

  end(): void {
    this.#controller.abort();
    this.#endNow("over");
  }

  wake(): void {
    this.#wake();
  }

  get isBusy(): boolean {
    return !this.#isAtRest && !this.ended.aborted;
  }

  run(name: string, work: () => Promise<Uint8Array>): Handle {
    const handle = this.#command("run", name);
    if (!this.#engine.notifications.some(({ index }) => index === handle.index))
      this.#closures.set(handle.index, { name, work });
    return handle;
  }

  sleep(name: string, ms: number): Handle {
    const handle = this.#command("sleep", name);
    const { index } = handle;
    const { clock, sleeps } = this.#engine;
    const at = sleeps.get(index) ?? clock.now() + ms;
    sleeps.set(index, at); // the time is in the journal, and does not begin anew
    clock.setTimer(at - clock.now(), () => this.#engine.notify({ index }));
    return handle;
  }

  awakeable(name: string): { readonly id: string; readonly handle: Handle } {
    const handle = this.#command("awakeable", name);
    const id = `awk_${handle.index}`;
    this.#engine.awakeables.set(id, handle.index);
    return { id, handle };
  }

  cancellation(): Handle {
    return { name: "cancellation", index: CANCELLATION } as Handle;
  }

  get(name: string): Handle {
    const handle = this.#command("get", name);
    this.#engine.notify({ index: handle.index, value: this.#engine.state.get(name) ?? null });
    return handle;
  }

  set(name: string, value: unknown): void {
    this.#command("set", name);
    this.#engine.state.set(name, structuredClone(value));
    this.#engine.onSet(name, value);
  }

  clear(name: string): void {
    this.#command("clear", name);
    this.#engine.state.delete(name);
  }

  async race(handles: readonly Handle[]): Promise<Outcome> {
    if (this.#isWaiting) this.#fail("awaitNext already pending");
    this.#isWaiting = true;
    const byIndex = new Map(handles.map((handle) => [(handle as FakeHandle).index, handle]));
    for (const index of byIndex.keys()) this.#start(index);
    for (;;) {
      if (this.ended.aborted) return new Promise(() => {});
      const found = this.#take(byIndex);
      if (found !== undefined) {
        this.#isWaiting = false;
        const { index, value, failure } = found;
        const handle = byIndex.get(index) as Handle;
        return failure === undefined ? { handle, value } : { handle, failure };
      }
      this.#isAtRest = true;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#isAtRest = false;
    }
  }

  /** Takes the next result in the order of the journal that is waited for. */
  #take(handles: ReadonlyMap<number, Handle>): Notification | undefined {
    const ready = this.#ready.findIndex(({ index }) => handles.has(index));
    if (ready >= 0) return this.#ready.splice(ready, 1)[0];
    while (this.#read < this.#engine.notifications.length) {
      const next = this.#engine.notifications[this.#read++] as Notification;
      if (handles.has(next.index)) return next;
      this.#ready.push(next);
    }
    return undefined;
  }

  #start(index: number): void {
    const closure = this.#closures.get(index);
    if (closure === undefined) return;
    this.#closures.delete(index);
    const { name, work } = closure;
    const settled = (notification: Notification): void => {
      if (this.ended.aborted) return;
      if (this.#engine.killsBefore(name)) return this.end();
      this.#engine.notify(notification);
      if (this.#engine.killsAfter(name)) this.end();
    };
    work().then(
      (value) => settled({ index, value }),
      (failure: unknown) => {
        const { retryable = true } = failure as { readonly retryable?: boolean };
        if (retryable) this.#fail(String(failure));
        else settled({ index, failure });
      },
    );
  }

  #command(kind: string, name: string): FakeHandle {
    const index = this.#next++;
    const known = this.#engine.commands[index];
    if (known === undefined) this.#engine.commands.push({ kind, name });
    else if (known.kind !== kind || known.name !== name)
      this.#fail(`journal mismatch: ${kind} ${name} instead of ${known.kind} ${known.name}`);
    return { name, index };
  }

  #fail(fault: string): void {
    if (this.ended.aborted) return;
    this.#engine.faults.push(fault);
    this.#failNow(new Error(fault));
    this.end();
  }
}
